"""Which of ten columns matter? Friedman's function, where the answer is known.

Y = 10 sin(X1 X2) + 20 (X3 - 0.5)^2 + 10 X4 + 5 X5 + noise; X6 to X10 are never used.
"""

import pandas as pd

from infosieve import MISelector, estimate, mutual_information, relevance
from infosieve.datasets import make_friedman


def select(X: pd.DataFrame, y: pd.Series) -> None:
    """Print the path of a selection."""
    selector = MISelector(random_state=0, n_jobs=-1).fit(X, y)
    print(f"Selected from {len(y)} samples: {', '.join(selector.get_feature_names_out())}\n")
    print(f"  {'step':<12}{'adds (nats)':>12}{'chance':>9}{'p':>9}   (chance: 95 % of permuted)")
    for step in selector.path_.itertuples():
        sign = ">=" if step.p_is_bound else " "
        print(
            f"  {step.action:<6}{step.feature:<6}{step.gain:>12.3f}{step.null_q95:>9.3f}"
            f"{sign + format(step.p_value, '.3f'):>9}"
        )
    print()


def main() -> None:
    """Print which columns are selected, and what columns and sets of them tell about Y."""
    print(__doc__)
    select(*make_friedman(100, random_state=0, return_X_y=True, as_frame=True))
    X, y = make_friedman(500, random_state=0, return_X_y=True, as_frame=True)
    print(f"What each column tells about Y on its own ({len(y)} samples, nats):\n")
    for name, nats in relevance(X, y).sort_values(ascending=False).items():
        used = "" if name in ("X1", "X2", "X3", "X4", "X5") else "   (not in the formula)"
        print(f"  {name:>4} {nats:7.3f}  {'█' * round(60 * max(nats, 0)):<24}{used}")

    print("\nWhat sets tell together, and what older estimates would say:\n")
    print(f"  {'set':<28}{'infosieve':>10}{'histogram':>11}{'Parzen':>9}")
    names = ["X4", "X2", "X3", "X1", "X5", "X6", "X7"]
    for size in range(1, len(names) + 1):
        columns = X[names[:size]]
        estimates = (
            f(columns, y) for f in (mutual_information, estimate.histogram, estimate.parzen)
        )
        print(f"  {' '.join(columns):<28}" + "{:>10.2f}{:>11.2f}{:>9.2f}".format(*estimates))
    print(
        "\nThe last two columns of the longest sets are noise: an estimate should not rise there.\n"
        "\nAfter X4, what does each other column add?\n"
    )
    added = relevance(X, y, given=X["X4"]).drop("X4").sort_values(ascending=False)
    print("  " + "  ".join(f"{name} {nats:.2f}" for name, nats in added.items()))


if __name__ == "__main__":
    main()
