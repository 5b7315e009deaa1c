"""Names of chains of resamplers and of models, as the command line spells them."""

from scumble._core.calls import format_call
from scumble.gui.worker import Payload


def format_chain(steps: list[Payload]) -> str:
    """Return a chain of resamplers as the command line spells it."""
    return "+".join(format_call(step["method"], step["parameters"]) for step in steps)


def format_recipe(recipe: Payload) -> str:
    """Return the name of a recipe, as in comparisons: its classifier and its treatment."""
    if "candidate" in recipe:
        return str(recipe["candidate"])
    classifier = recipe["classifier"]
    name = format_call(classifier["classifier"], classifier["parameters"])
    chain = format_chain(recipe["treatment"])
    return f"{name} after {chain}" if chain else name
