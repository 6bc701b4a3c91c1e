"""The network that UMSE trains, on tiny encoders."""

import pytest

from scoring.weights.model_files import MissingWeights
from tests.scoring.tiny_models import HIDDEN, LAYERS, POSITIONS, tiny_model

FORMS, SHARINGS = ("input", "keys"), ("perturbed", "shared", "separate")
KINDS = ("bert", "roberta", "xlm-roberta")
ROWS = 6


def shape(**changes):
    from scoring.neural.umse_network import SCENARIOS, Shape

    given = {
        "scenarios": SCENARIOS,
        "prefix_form": "input",
        "prefix_sharing": "perturbed",
        "prefix_length": ROWS,
        "pooling": "mean",
        "dropout": 0.1,
        "max_length": 380,
    }
    return Shape(**(given | changes))


def network(kind="bert", **changes):
    import torch

    from scoring.neural.umse_network import UmseNetwork

    torch.manual_seed(0)
    return UmseNetwork.start(tiny_model(kind), shape(**changes)).eval()


def logits(found, *scenarios):
    """Return the logits [scenarios, 2] of one text read in each scenario."""
    import torch

    ids = torch.arange(10, 30).expand(len(scenarios), -1)
    with torch.no_grad():
        return found(ids, torch.ones_like(ids), torch.zeros_like(ids), torch.tensor(scenarios))


def difference(one, other):
    return float((one - other).abs().max())


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_a_prefix_matters_in_the_input_and_not_as_keys(kind):
    sum_ref, sum_doc, sum_doc_ref = logits(network(kind), 0, 1, 2)
    assert min(difference(sum_ref, sum_doc), difference(sum_doc, sum_doc_ref)) > 1e-3
    sum_ref, sum_doc, sum_doc_ref = logits(network(kind, prefix_form="keys"), 0, 1, 2)
    assert max(difference(sum_ref, sum_doc), difference(sum_doc, sum_doc_ref)) < 1e-6


def test_a_prefix_of_keys_still_matters():
    import torch

    found = network(prefix_form="keys")
    before = logits(found, 0)
    torch.nn.init.zeros_(found.prefix)
    assert difference(before, logits(found, 0)) > 1e-3


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sharing", SHARINGS)
def test_scenarios_share_a_prefix_as_asked(form, sharing):
    found = network(prefix_form=form, prefix_sharing=sharing)
    width = HIDDEN if form == "input" else LAYERS * 2 * HIDDEN
    assert found.prefix.shape == (3 if sharing == "separate" else 1, ROWS, width)
    sum_ref, sum_doc = logits(found, 0, 1)
    alike = sharing == "shared" or (sharing, form) == ("perturbed", "keys")
    assert (difference(sum_ref, sum_doc) < 1e-6) is alike


def test_each_scenario_has_the_papers_order():
    expected = [[5, 4, 3, 2, 1, 0], [0, 1, 2, 3, 4, 5], [0, 2, 4, 1, 3, 5]]
    assert network().orders.tolist() == expected
    assert network(prefix_length=0).orders.shape == (3, 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_padding_changes_nothing(kind, form):
    import torch

    found = network(kind, prefix_form=form, pooling="mean")
    ids = torch.randint(10, 30, (2, 20), generator=torch.Generator().manual_seed(1))
    ids[1, 15:] = found.encoder.config.pad_token_id
    mask = torch.ones_like(ids)
    mask[1, 15:] = 0
    with torch.no_grad():
        together = found(ids, mask, torch.zeros_like(ids), torch.tensor([0, 1]))
        alone = found(ids[1:, :15], mask[1:, :15], torch.zeros_like(ids[1:, :15]), torch.tensor([1]))
    assert difference(together[1], alone[0]) < 1e-6


@pytest.mark.parametrize("pooling", ["first", "mean"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_prefix_stands_after_the_first_token(kind, pooling):
    """The encoder reads [CLS] P X [SEP] Y, with a type of the second text if it has types."""
    import torch

    found = network(kind, prefix_sharing="shared", pooling=pooling)
    ids = torch.arange(10, 30)[None]
    numbers = torch.tensor([[0] * 12 + [1] * 8])
    words = found.encoder.get_input_embeddings()(ids)
    vectors = torch.cat([words[:, :1], found.prefix, words[:, 1:]], dim=1)
    types = torch.tensor([[0] * (12 + ROWS) + [1] * 8]) if kind == "bert" else None
    with torch.no_grad():
        states = found.encoder(inputs_embeds=vectors, token_type_ids=types).last_hidden_state[0]
        tokens = torch.cat([states[:1], states[1 + ROWS :]])
        expected = found.estimator(tokens[0] if pooling == "first" else tokens.mean(dim=0))
        logits = found(ids, torch.ones_like(ids), numbers, torch.tensor([0]))
    assert difference(logits[0], expected) < 1e-6


@pytest.mark.parametrize(("kind", "is_heeded"), [("bert", True), ("roberta", False)])
@pytest.mark.parametrize("form", FORMS)
def test_types_of_tokens_are_given_to_encoders_that_have_them(kind, form, is_heeded):
    import torch

    found = network(kind, prefix_form=form)
    ids = torch.arange(10, 30)[None]
    one, two = torch.zeros_like(ids), torch.tensor([[0] * 10 + [1] * 5 + [2] * 5])
    with torch.no_grad():
        differs = difference(
            *(found(ids, torch.ones_like(ids), each, torch.tensor([0])) for each in (one, two))
        )
    assert (differs > 1e-4) is is_heeded


@pytest.mark.parametrize("form", FORMS)
def test_the_prefix_takes_positions_from_the_texts(form):
    assert network("roberta", prefix_form=form, max_length=9999).room == POSITIONS - ROWS
    assert network("roberta", prefix_form=form, max_length=100).room == 100


def test_a_prefix_that_leaves_no_room_for_texts_is_refused():
    with pytest.raises(MissingWeights, match="positions for 512 tokens, too few for a prefix of 500"):
        network("roberta", prefix_length=500)


def test_without_prefix_the_scenario_changes_nothing():
    sum_ref, sum_doc = logits(network(prefix_length=0), 0, 1)
    assert difference(sum_ref, sum_doc) < 1e-6


@pytest.mark.parametrize(
    ("kind", "form", "message"),
    [("t5", "input", "is not an encoder alone"), ("gpt2", "keys", "takes no prefix of keys")],
)
def test_a_model_that_does_not_suit_is_refused(kind, form, message):
    with pytest.raises(MissingWeights, match=message):
        network(kind, prefix_form=form)


def test_a_card_without_a_shape_is_refused():
    from scoring.neural.umse_network import Shape

    with pytest.raises(MissingWeights, match="does not describe a UMSE network"):
        Shape.of({"scenarios": ["sum_ref"], "version": 2})


def test_a_network_that_reads_texts_in_an_earlier_form_is_refused():
    from dataclasses import asdict

    from scoring.neural.umse_network import Shape

    settings = asdict(shape())
    assert Shape.of(settings) == shape()
    del settings["version"]
    with pytest.raises(MissingWeights, match="reads texts in form 1, but this Touchstone in form 2"):
        Shape.of(settings)
