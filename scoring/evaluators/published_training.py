"""The data sets that published models were trained on, by name. Our own models name their articles."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedTraining:
    """The training data of some published models."""

    models: str
    """Regular expression for their names, without regard to case."""
    trained_on: str
    datasets: str
    """Regular expression for names of data sets with the same texts, without regard to case."""


SEAHORSE_DATA = PublishedTraining(
    models=r"(.*/)?seahorse-\w+-q[1-6](@.*)?",
    trained_on="SEAHORSE's articles, from XSum, XL-Sum, MLSum and WikiLingua",
    datasets=r"seahorse.*|x[-_ ]?l?[-_ ]?sum.*|ml[-_ ]?sum.*|wiki[-_ ]?lingua.*",
)
CNN_DAILYMAIL = r"(cnn|dm)([-_/ ]?(dm|daily[-_ ]?mail))?([-_ ].*)?|daily[-_ ]?mail.*|summeval.*"
PUBLISHED = (
    SEAHORSE_DATA,
    PublishedTraining(r"(.*/)?unieval-(sum|fact|intermediate)(@.*)?", "CNN/DailyMail", CNN_DAILYMAIL),
    PublishedTraining(r"(zt-yao/)?umse(@.*)?", "CNN/DailyMail", CNN_DAILYMAIL),
)


def training_warnings(models: Collection[str], datasets: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each model that may have seen articles of these data sets."""
    for model in models:
        for known in PUBLISHED:
            same = [name for name in datasets if re.fullmatch(known.datasets, name, re.IGNORECASE)]
            if same and re.fullmatch(known.models, model, re.IGNORECASE):
                yield (
                    f"{model} was trained on {known.trained_on}, and this project has articles of "
                    f"{', '.join(sorted(same))}. It may have seen them, and it is not known which, so its "
                    "results here may be too good."
                )
