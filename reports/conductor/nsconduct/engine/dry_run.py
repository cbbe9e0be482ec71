# SPDX-License-Identifier: MIT
# An experiment -> what would run where, as text.
from nsreport.text import plural

from ..config import variables
from ..config.experiment import PHASES
from . import plan


def summary(experiment):
    """One line."""
    counts = [
        plural(len(experiment.players), "player"),
        plural(len(experiment.variants), "variant"),
        plural(experiment.trials, "round"),
        plural(len(experiment.values), "value"),
    ]
    warmup = f" after {plural(experiment.warmup, 'warm-up round')}" if experiment.warmup else ""
    return f"{experiment.path}: {', '.join(counts)}{warmup}"


def text(experiment):
    lines = [summary(experiment)]
    for name, transport in experiment.transport_texts().items():
        lines.append(f"player {name}: {transport}, {experiment.players[name].path}")
    lines.extend(_network(experiment.network))
    lines.extend(f"setting {key}: {value}" for key, value in experiment.settings.items())
    for variant, settings in experiment.variants.items():
        head = " ".join(f"{key}={value}" for key, value in settings.items())
        lines.append("")
        lines.append(f"variant {variant}{': ' if head else ''}{head}")
        for phase in PHASES:
            lines.extend(_phase(experiment, phase, experiment.words(variant)))
    lines.extend(["", *_order(experiment)])
    return "\n".join(lines) + "\n"


def _network(network):
    for link in network.links:
        ends = [f"{player} {name} {address or '-'}" for player, name, address in link.ends]
        mtu = f", mtu {link.mtu}" if link.mtu else ""
        yield f"link {' -- '.join(ends)}{mtu}"
    for player, words in network.routes:
        yield f"route {player}: {' '.join(words)}"
    for player in network.forwarding:
        yield f"forwarding on {player}"


def _phase(experiment, phase, settings):
    yield f"  {phase.title()}"
    for name, player in experiment.players.items():
        for step in player.phases[phase]:
            limit = f"at most {step.timeout_s or experiment.timeout_s} s"
            how = "in the background" if step.spawn else limit
            command = variables.replaced(step.command, settings).replace("\n", "\n" + " " * 8)
            yield f"    {name} {step.name} ({how}): {command}"


def _order(experiment):
    if experiment.seed is None:
        yield "order of the variants: random, by a seed that is drawn"
        return
    yield f"order of the variants, seed {experiment.seed}:"
    rounds = {}
    for trial in plan.trials(
        experiment.variants, experiment.warmup, experiment.trials, experiment.seed
    ):
        rounds.setdefault((trial.warmup, trial.round), []).append(trial.variant)
    for (is_warmup, number), names in rounds.items():
        yield f"  {'warm-up round' if is_warmup else 'round'} {number}: {', '.join(names)}"
