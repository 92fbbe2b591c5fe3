"""Real spectra: Tecator, which comes with the package, and tables on disk."""

import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

_NUMBERED = re.compile(r"(\D*)(\d+(?:\.\d+)?)(\D*)")


def load_tecator(
    *,
    target: str | Sequence[str] = "fat",
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load near infrared spectra of 215 samples of meat, 100 channels, and their fat content.

    Absorbances from 850 to 1050 nm, recorded on a Tecator Infratec Food and Feed Analyzer [1]_.

    Parameters
    ----------
    target : {"fat", "water", "protein"} or list of these, default="fat"
        What to predict, in percent.
    return_X_y : bool, default=False
        Whether to return just the spectra and the target.
    as_frame : bool, default=False
        Whether they are a DataFrame and a Series (or DataFrame).

    Returns
    -------
    Bunch, or (X, y)
        ``data``, ``target``, ``frame``, ``feature_names``, ``target_names``, ``axis`` (the
        channels' wavelengths in nm) and ``DESCR`` with the permission note. By convention the first
        129 samples are for training, the next 43 for choices and the last 43 for tests; 22 spectra
        occur twice.

    See Also
    --------
    load_spectra : Spectra from a file.
    infosieve.CurveFeatures : Slopes, means and the like of stretches of curves.

    References
    ----------
    .. [1] C. Borggaard and H. H. Thodberg (1992). Optimal minimal neural interpretation of
       spectra. *Analytical Chemistry* 64(5), 545-551. https://doi.org/10.1021/ac00029a018

    Examples
    --------
    >>> from infosieve.datasets import load_tecator
    >>> X, fat = load_tecator(return_X_y=True)
    >>> X.shape, float(fat.max())
    ((215, 100), 49.1)
    """
    folder = files("infosieve.datasets").joinpath("data")
    with folder.joinpath("tecator.csv").open() as file:
        frame = pd.read_csv(file)
    axis = np.linspace(850.0, 1050.0, 100)
    note = folder.joinpath("TECATOR-NOTE.txt").read_text(encoding="utf-8")
    bunch = _bunch(frame, list(frame.columns[:100]), target, "Tecator", as_frame)
    return (bunch.data, bunch.target) if return_X_y else Bunch(**bunch, axis=axis, DESCR=note)


def load_spectra(
    path: Any,
    *,
    target: str | Sequence[str] | None = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Load spectra, or other curves, from a CSV file (or TSV, by its ending) with a header.

    The columns of the curve are those named alike but for a number (``x001``, ``x002``, ... or
    ``900nm``, ``902nm``, ...): as the first column is. Other columns of numbers are targets;
    columns of text, such as ``split``, are kept beside them.

    Parameters
    ----------
    path : str or path
        The file.
    target : str, list of str or None, default=None
        The target's name; None where only one column of numbers is not part of the curve.
    return_X_y : bool, default=False
        Whether to return just the curves and the target.
    as_frame : bool, default=False
        Whether they are a DataFrame and a Series (or DataFrame).

    Returns
    -------
    Bunch, or (X, y)
        ``data``, ``target``, ``frame`` (the whole table, with ``as_frame``), ``feature_names``,
        ``target_names``, ``axis`` (the numbers in the columns' names) and ``text`` (a DataFrame of
        the columns of text).

    See Also
    --------
    load_tecator : Spectra that come with the package.
    infosieve.CurveFeatures : Slopes, means and the like of stretches of curves.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from infosieve.datasets import load_spectra
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "juice.csv"
    ...     _ = path.write_text("900nm,902nm,904nm,sugar\\n1.2,1.3,1.5,8.1\\n1.1,1.4,1.6,9.0\\n")
    ...     juice = load_spectra(path)
    >>> juice.axis, juice.target_names
    (array([900., 902., 904.]), ['sugar'])
    """
    path = Path(path)
    separator = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
    frame = pd.read_csv(path, sep=separator)
    matches = [_NUMBERED.fullmatch(str(name)) for name in frame.columns]
    alike = [m for m in matches if m and matches[0] and m.group(1, 3) == matches[0].group(1, 3)]
    if len(alike) < 2:
        raise ValueError(
            f"{path.name} does not begin with the columns of a curve, named alike but for a number "
            f"(x001, x002, ...): its first columns are {list(frame.columns[:3])}. Rename them, or "
            "read the table with pandas."
        )
    features = [m.string for m in alike]
    text = [c for c in frame.columns if frame[c].dtype.kind not in "iuf"]
    wrong = [c for c in features if c in text]
    if wrong:
        raise ValueError(
            f"Column {wrong[0]!r} of {path.name} belongs to the curve but holds what is no number."
        )
    if target is None:
        others = [c for c in frame.columns if c not in set(features) | set(text)]
        if len(others) != 1:
            what = ", ".join(map(repr, others)) if others else "none"
            raise ValueError(
                f"{path.name} has {len(others)} columns of numbers beside the curve: {what}. Say "
                "which is the target (target=...)."
            )
        target = others[0]
    axis = np.array([float(m.group(2)) for m in alike])
    bunch = _bunch(frame, features, target, path.name, as_frame)
    return (bunch.data, bunch.target) if return_X_y else Bunch(**bunch, axis=axis, text=frame[text])


def _bunch(frame: pd.DataFrame, features: list[str], target: Any, name: str, as_frame: bool) -> Any:
    names = [target] if isinstance(target, str) else list(target or [])
    others = [c for c in frame.columns if c not in features]
    rule = f"The 'target' parameter must be one of {others}, or a list of them"
    for wanted in names:
        if wanted not in frame.columns or wanted in features:
            raise ValueError(f"{rule}: {name} has no target {wanted!r}.")
    if not names:
        raise ValueError(f"{rule}. Got {target!r} instead.")
    data, chosen = frame[features], frame[target if isinstance(target, str) else names]
    return Bunch(
        data=data if as_frame else data.to_numpy(),
        target=chosen if as_frame else chosen.to_numpy(),
        frame=frame if as_frame else None,
        feature_names=features,
        target_names=names,
    )
