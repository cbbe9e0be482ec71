# SPDX-License-Identifier: MIT
# Result folders as nsconduct leaves them, with given values.
import json
import os

ENVIRONMENT = {
    "toolkit": "0.1.0",
    "players": {"host": {"cpu": "EPYC", "kernel": "6.1", "cpus": 2, "interfaces": {}}},
}


def trial(number, variant, values, unit="s", **more):
    return {
        **{"round": number, "variant": variant, "warmup": False, "order": 1, "status": "ok"},
        **{"failure": None, "values": {n: {"value": v, "unit": unit} for n, v in values.items()}},
        **{"collected": {}, "load_by_others": 0.0, "steal": 0.0, **more},
    }


def write(folder, variants, trials, environment=None, values=("seconds",)):
    os.makedirs(folder)
    experiment = {
        **{"format": 1, "name": "test", "variants": variants, "values": list(values)},
        "environment": ENVIRONMENT if environment is None else environment,
    }
    with open(os.path.join(folder, "experiment.json"), "w", encoding="utf-8") as file:
        json.dump(experiment, file)
    with open(os.path.join(folder, "trials.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in trials)
    return folder
