"""A display of the choice of K."""

from collections.abc import Sequence
from typing import Any, Self

from infosieve.plots._shared import FOUND, Display, axes, draw, legend
from infosieve.report._figures import smoothing
from infosieve.report._tests import best_features
from infosieve.results import KChoice


class KChoiceDisplay(Display):
    """The statistic t of each K: how far the information of features stands above chance.

    A line for each feature, and the K that was chosen.

    Parameters
    ----------
    choice : KChoice
        What :func:`choose_k` returned.
    features : list of int
        Which features to draw, by their numbers.

    See Also
    --------
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

    def _draw(self, ax: Any) -> Any:
        ax, choice = axes(ax), self.choice
        draw(ax, smoothing(choice, self.features))
        left = 2 * choice.k <= choice.ks[0] + choice.ks[-1]
        ax.annotate(
            f"K = {choice.k}", (choice.k, ax.get_ylim()[1]), (4 if left else -4, -12), color=FOUND,
            textcoords="offset points", ha="left" if left else "right",
        )  # fmt: skip
        ax.xaxis.get_major_locator().set_params(integer=True)
        legend(ax)
        return ax
