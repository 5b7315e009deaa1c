"""Names of chains of resamplers and of models, as the command line spells them.

A *recipe* is the specification of a model to train: the name of a candidate of the advice, or a
classifier with the chain of resamplers before it, which is the *treatment*.
"""

from scumble._core.calls import format_call
from scumble.gui.worker import Payload


def format_chain(steps: list[Payload]) -> str:
    """Return a chain of resamplers as the command line spells it."""
    return "+".join(format_call(step["method"], step["parameters"]) for step in steps)


def format_recipe(recipe: Payload) -> str:
    """Return the name of a recipe, as in comparisons: its candidate, or classifier and treatment.

    For example "mlknn after remedial+mlsmote", or "mlknn" for an empty treatment.
    """
    if "candidate" in recipe:
        return str(recipe["candidate"])
    classifier = recipe["classifier"]
    name = format_call(classifier["classifier"], classifier["parameters"])
    chain = format_chain(recipe["treatment"])
    return f"{name} after {chain}" if chain else name
