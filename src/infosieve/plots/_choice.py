"""Displays of the choice of K."""

from collections.abc import Sequence
from typing import Any, Self

from infosieve.plots._shared import CHANCE, FOUND, Display, axes, short
from infosieve.report._tests import best_features
from infosieve.results import KChoice


class KChoiceDisplay(Display):
    """The statistic t of each K: how far the information of features stands above chance.

    Parameters
    ----------
    choice : KChoice
        What :func:`choose_k` returned.
    features : list of int
        Which features to draw, by their numbers.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        What was drawn on.

    See Also
    --------
    InformationDisplay : What t is computed from, of one feature.
    infosieve.choose_k : Chooses K.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import choose_k, plots
    >>> x = np.random.default_rng(0).normal(size=(30, 2))
    >>> choice = choose_k(x, x[:, 0] ** 2, random_state=0)
    >>> plots.KChoiceDisplay.from_choice(choice).plot().ax_.get_xlabel()
    'K (neighbours)'
    """

    def __init__(self, choice: KChoice, features: Sequence[int]) -> None:
        self.choice, self.features = choice, list(features)

    @classmethod
    def from_choice(cls, choice: KChoice, *, max_features: int = 8) -> Self:
        """Show the features whose t is largest.

        Parameters
        ----------
        choice : KChoice
            What :func:`choose_k` returned.
        max_features : int, default=8
            How many features, at most.

        Returns
        -------
        KChoiceDisplay
            To be drawn with ``plot``.
        """
        return cls(choice, best_features(choice, max_features))

    def plot(self, ax: Any = None) -> Self:
        """Draw a line for each feature, and the K that was chosen.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        KChoiceDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        ax = axes(ax)
        choice = self.choice
        for number, j in enumerate(self.features):
            name = choice.features[j]
            chose = name == choice.feature
            color = FOUND if chose else str(0.45 + 0.4 * number / max(1, len(self.features)))
            style = {"color": color, "lw": 2 if chose else 1, "zorder": 3 if chose else 2}
            ax.plot(choice.ks, choice.t[j], label=short(name), **style)
        ax.axvline(choice.k, color=FOUND, ls="--", lw=1)
        left = 2 * choice.k <= choice.ks[0] + choice.ks[-1]
        ax.annotate(
            f"K = {choice.k}", (choice.k, ax.get_ylim()[1]), (4 if left else -4, -12), color=FOUND,
            textcoords="offset points", ha="left" if left else "right",
        )  # fmt: skip
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="K (neighbours)", ylabel="t: standard deviations above chance")
        ax.legend(fontsize="small", frameon=False)
        return self._drawn(ax)


class InformationDisplay(Display):
    """Boxes of one feature's information over the folds, for each K.

    Parameters
    ----------
    choice : KChoice
        What :func:`choose_k` returned.
    feature : int
        Which feature, by its number.

    Attributes
    ----------
    ax_, figure_ : Axes, Figure
        What was drawn on.

    See Also
    --------
    KChoiceDisplay : The statistic t of several features.
    infosieve.choose_k : Chooses K.

    Examples
    --------
    >>> import numpy as np
    >>> from infosieve import choose_k, plots
    >>> x = np.random.default_rng(0).normal(size=(30, 2))
    >>> choice = choose_k(x, x[:, 0] ** 2, random_state=0)
    >>> plots.InformationDisplay.from_choice(choice, 1).plot().ax_.get_title()
    '1, over the folds'
    """

    def __init__(self, choice: KChoice, feature: int) -> None:
        self.choice, self.feature = choice, feature

    @classmethod
    def from_choice(cls, choice: KChoice, feature: Any = None) -> Self:
        """Show one feature.

        Parameters
        ----------
        choice : KChoice
            What :func:`choose_k` returned.
        feature : object, default=None
            The name of the feature, or its number where features have no names; None is the one
            that chose K.

        Returns
        -------
        InformationDisplay
            To be drawn with ``plot``.
        """
        wanted = choice.feature if feature is None else feature
        if wanted not in choice.features:
            raise ValueError(
                f"The 'feature' parameter must be one of {list(choice.features[:5])}, ... Got "
                f"{feature!r} instead."
            )
        return cls(choice, choice.features.index(wanted))

    def plot(self, ax: Any = None) -> Self:
        """Draw two boxes for each K: with the target as it is, and permuted.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        InformationDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        ax = axes(ax)
        choice, j = self.choice, self.feature
        for values, shift, color, label in (
            (choice.mi[j], -0.18, FOUND, "target as it is"),
            (choice.mi_permuted[j], 0.18, CHANCE, "target permuted"),
        ):
            box = ax.boxplot(
                list(values), positions=choice.ks + shift, widths=0.3, patch_artist=True,
                manage_ticks=False, flierprops={"ms": 2, "markeredgecolor": color},
                medianprops={"color": "white"},
            )  # fmt: skip
            for patch in box["boxes"]:
                patch.set(facecolor=color, edgecolor=color)
            ax.plot([], [], color=color, lw=6, label=label)
        ax.set_xticks(choice.ks)
        ax.set(xlabel="K (neighbours)", ylabel="information (nats)")
        ax.set_title(f"{short(choice.features[j])}, over the folds")
        ax.legend(fontsize="small", frameon=False)
        return self._drawn(ax)
