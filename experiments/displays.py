"""Two pictures of Verleysen, Rossi and François (2009), for docs/chapter.md; not a script."""

import numpy as np

from infosieve import false_neighbors
from infosieve.plots import CHANCE, FOUND, REFUSED

FAINT = "#c9d1d9"


def draw_information(ax, choice, feature):
    """Boxes of one feature's information over the folds, for each K: as it is, and permuted."""
    j = choice.features.index(feature)
    for values, shift, color, label in (
        (choice.mi[j], -0.18, FOUND, "target as it is"),
        (choice.mi_permuted[j], 0.18, CHANCE, "target permuted"),
    ):
        box = ax.boxplot(
            list(values),
            positions=choice.ks + shift,
            widths=0.3,
            patch_artist=True,
            manage_ticks=False,
            flierprops={"ms": 2, "markeredgecolor": color},
            medianprops={"color": "white"},
        )
        for patch in box["boxes"]:
            patch.set(facecolor=color, edgecolor=color)
        ax.plot([], [], color=color, lw=6, label=label)
    ax.set_xticks(choice.ks)
    ax.set(xlabel="K (neighbours)", ylabel="information (nats)", title=f"{feature}, over the folds")
    ax.legend(fontsize="small", frameon=False)


def draw_false_neighbors(ax, X, y, feature):
    """The sample with most false neighbours in a feature of a frame: these, and its nearest one.

    A false neighbour is nearer to the sample in the feature than the sample's nearest neighbour
    in feature and target together.
    """
    x = X[feature].to_numpy()
    sample = int(np.argmax(false_neighbors(x[:, None], y)[:, 0]))
    x, y = ((values - np.mean(values)) / np.std(values) for values in (x, y))
    gaps = np.abs(x - x[sample])
    squares = gaps**2 + (y - y[sample]) ** 2
    squares[sample] = np.inf
    nearest = int(np.argmin(squares))
    false = np.flatnonzero((gaps < gaps[nearest]) & (np.arange(x.size) != sample))
    reach = gaps[nearest]
    ax.axvspan(x[sample] - reach, x[sample] + reach, color=REFUSED, alpha=0.12, lw=0)
    ax.plot(x, y, "o", ms=3, color=FAINT)
    ax.plot(x[false], y[false], "o", ms=5, color=REFUSED, label=f"{false.size} false neighbours")
    ax.plot(x[nearest], y[nearest], "s", ms=8, color=FOUND, label="its nearest neighbour")
    ax.plot(x[sample], y[sample], "k*", ms=12, label="a sample")
    ax.set(xlabel=f"{feature} (scaled)", ylabel="target (scaled)")
    ax.legend(fontsize="small", frameon=False)
