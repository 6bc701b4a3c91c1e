"""The publications that the methods come from, for the reference list of a paper."""

import re
from typing import NamedTuple


class Source(NamedTuple):
    named_by: str
    """A regular expression for what a text says that uses it."""
    bibtex: str


SOURCES = (
    Source(
        r"SEAHORSE",
        """@inproceedings{clark-etal-2023-seahorse,
  author = {Clark, Elizabeth and Rijhwani, Shruti and Gehrmann, Sebastian and Maynez, Joshua
            and Aharoni, Roee and Nikolaev, Vitaly and Sellam, Thibault and Siddhant, Aditya
            and Das, Dipanjan and Parikh, Ankur},
  title = {{SEAHORSE}: A Multilingual, Multifaceted Dataset for Summarization Evaluation},
  booktitle = {Proceedings of the 2023 Conference on Empirical Methods in Natural Language Processing},
  year = {2023}, pages = {9397--9413}, doi = {10.18653/v1/2023.emnlp-main.584}
}""",
    ),
    Source(
        r"SummEval",
        """@article{fabbri-etal-2021-summeval,
  author = {Fabbri, Alexander R. and Kry{\\'s}ci{\\'n}ski, Wojciech and McCann, Bryan and Xiong, Caiming
            and Socher, Richard and Radev, Dragomir},
  title = {{SummEval}: Re-evaluating Summarization Evaluation},
  journal = {Transactions of the Association for Computational Linguistics},
  year = {2021}, volume = {9}, pages = {391--409}, doi = {10.1162/tacl_a_00373}
}""",
    ),
    Source(
        r"ROUGE",
        """@inproceedings{lin-2004-rouge,
  author = {Lin, Chin-Yew},
  title = {{ROUGE}: A Package for Automatic Evaluation of Summaries},
  booktitle = {Text Summarization Branches Out},
  year = {2004}, pages = {74--81}
}""",
    ),
    Source(
        r"\bICE\b",
        """@inproceedings{jain-etal-2023-multi,
  author = {Jain, Sameer and Keshava, Vaishakh and Mysore Sathyendra, Swarnashree and Fernandes, Patrick
            and Liu, Pengfei and Neubig, Graham and Zhou, Chunting},
  title = {Multi-Dimensional Evaluation of Text Summarization with In-Context Learning},
  booktitle = {Findings of the Association for Computational Linguistics: ACL 2023},
  year = {2023}, pages = {8487--8495}, doi = {10.18653/v1/2023.findings-acl.537}
}""",
    ),
    Source(
        r"Spearman",
        """@article{spearman-1904-proof,
  author = {Spearman, Charles},
  title = {The Proof and Measurement of Association between Two Things},
  journal = {The American Journal of Psychology},
  year = {1904}, volume = {15}, number = {1}, pages = {72--101}, doi = {10.2307/1412159}
}""",
    ),
    Source(
        r"Kendall",
        """@article{kendall-1945-ties,
  author = {Kendall, Maurice G.},
  title = {The Treatment of Ties in Ranking Problems},
  journal = {Biometrika},
  year = {1945}, volume = {33}, number = {3}, pages = {239--251}, doi = {10.1093/biomet/33.3.239}
}""",
    ),
    Source(
        r"ROC AUC",
        """@article{fawcett-2006-roc,
  author = {Fawcett, Tom},
  title = {An Introduction to {ROC} Analysis},
  journal = {Pattern Recognition Letters},
  year = {2006}, volume = {27}, number = {8}, pages = {861--874}, doi = {10.1016/j.patrec.2005.10.010}
}""",
    ),
    Source(
        r"Krippendorff",
        """@article{hayes-krippendorff-2007-answering,
  author = {Hayes, Andrew F. and Krippendorff, Klaus},
  title = {Answering the Call for a Standard Reliability Measure for Coding Data},
  journal = {Communication Methods and Measures},
  year = {2007}, volume = {1}, number = {1}, pages = {77--89}, doi = {10.1080/19312450709336664}
}""",
    ),
    Source(
        r"Gwet",
        """@article{gwet-2008-computing,
  author = {Gwet, Kilem Li},
  title = {Computing Inter-Rater Reliability and Its Variance in the Presence of High Agreement},
  journal = {British Journal of Mathematical and Statistical Psychology},
  year = {2008}, volume = {61}, number = {1}, pages = {29--48}, doi = {10.1348/000711006X126600}
}""",
    ),
    Source(
        r"Fleiss",
        """@article{fleiss-1971-measuring,
  author = {Fleiss, Joseph L.},
  title = {Measuring Nominal Scale Agreement Among Many Raters},
  journal = {Psychological Bulletin},
  year = {1971}, volume = {76}, number = {5}, pages = {378--382}, doi = {10.1037/h0031619}
}""",
    ),
    Source(
        r"Cohen",
        """@article{cohen-1960-coefficient,
  author = {Cohen, Jacob},
  title = {A Coefficient of Agreement for Nominal Scales},
  journal = {Educational and Psychological Measurement},
  year = {1960}, volume = {20}, number = {1}, pages = {37--46}, doi = {10.1177/001316446002000104}
}""",
    ),
    Source(
        r"Dawid",
        """@article{dawid-skene-1979-maximum,
  author = {Dawid, A. P. and Skene, A. M.},
  title = {Maximum Likelihood Estimation of Observer Error-Rates Using the {EM} Algorithm},
  journal = {Journal of the Royal Statistical Society. Series C (Applied Statistics)},
  year = {1979}, volume = {28}, number = {1}, pages = {20--28}, doi = {10.2307/2346806}
}""",
    ),
    Source(
        r"acc_eq",
        """@inproceedings{deutsch-etal-2023-ties,
  author = {Deutsch, Daniel and Foster, George and Freitag, Markus},
  title = {Ties Matter: Meta-Evaluating Modern Metrics with Pairwise Accuracy and Tie Calibration},
  booktitle = {Proceedings of the 2023 Conference on Empirical Methods in Natural Language Processing},
  year = {2023}, pages = {12914--12929}, doi = {10.18653/v1/2023.emnlp-main.798}
}""",
    ),
    Source(
        r"Deutsch|[Rr]esampl|[Bb]ootstrap|PERM-",
        """@article{deutsch-etal-2021-statistical,
  author = {Deutsch, Daniel and Dror, Rotem and Roth, Dan},
  title = {A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods},
  journal = {Transactions of the Association for Computational Linguistics},
  year = {2021}, volume = {9}, pages = {1132--1146}, doi = {10.1162/tacl_a_00417}
}""",
    ),
    Source(
        r"BCa|Efron",
        """@article{efron-1987-better,
  author = {Efron, Bradley},
  title = {Better Bootstrap Confidence Intervals},
  journal = {Journal of the American Statistical Association},
  year = {1987}, volume = {82}, number = {397}, pages = {171--185}, doi = {10.1080/01621459.1987.10478410}
}""",
    ),
    Source(
        r"Williams",
        """@inproceedings{graham-baldwin-2014-testing,
  author = {Graham, Yvette and Baldwin, Timothy},
  title = {Testing for Significance of Increased Correlation with Human Judgment},
  booktitle = {Proceedings of the 2014 Conference on Empirical Methods in Natural Language Processing},
  year = {2014}, pages = {172--176}, doi = {10.3115/v1/D14-1020}
}""",
    ),
    Source(
        r"Holm",
        """@article{holm-1979-simple,
  author = {Holm, Sture},
  title = {A Simple Sequentially Rejective Multiple Test Procedure},
  journal = {Scandinavian Journal of Statistics},
  year = {1979}, volume = {6}, number = {2}, pages = {65--70}
}""",
    ),
    Source(
        r"Benjamini",
        """@article{benjamini-hochberg-1995-controlling,
  author = {Benjamini, Yoav and Hochberg, Yosef},
  title = {Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing},
  journal = {Journal of the Royal Statistical Society. Series B (Methodological)},
  year = {1995}, volume = {57}, number = {1}, pages = {289--300}, doi = {10.1111/j.2517-6161.1995.tb02031.x}
}""",
    ),
    Source(
        r"[Aa]lternative annotator test",
        """@inproceedings{calderon-etal-2025-alternative,
  author = {Calderon, Nitay and Reichart, Roi and Dror, Rotem},
  title = {The Alternative Annotator Test for {LLM}-as-a-Judge: How to Statistically Justify Replacing Human
           Annotators with {LLM}s},
  booktitle = {Proceedings of the 63rd Annual Meeting of the Association for Computational Linguistics
               (Volume 1: Long Papers)},
  year = {2025}, pages = {16051--16081}, doi = {10.18653/v1/2025.acl-long.782}
}""",
    ),
    Source(
        r"[Pp]rediction-powered",
        """@article{angelopoulos-etal-2023-prediction,
  author = {Angelopoulos, Anastasios N. and Bates, Stephen and Fannjiang, Clara and Jordan, Michael I.
            and Zrnic, Tijana},
  title = {Prediction-Powered Inference},
  journal = {Science},
  year = {2023}, volume = {382}, number = {6671}, pages = {669--674}, doi = {10.1126/science.adi6000}
}""",
    ),
    Source(
        r"PPI\+\+",
        """@misc{angelopoulos-etal-2023-ppi,
  author = {Angelopoulos, Anastasios N. and Duchi, John C. and Zrnic, Tijana},
  title = {{PPI++}: Efficient Prediction-Powered Inference},
  year = {2023}, eprint = {2311.01453}, archivePrefix = {arXiv}
}""",
    ),
)


def sources_of(text: str) -> list[Source]:
    """Those of SOURCES whose method the text names, in the order of SOURCES."""
    return [source for source in SOURCES if re.search(source.named_by, text)]
