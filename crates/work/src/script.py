"""Calls the entry function of a script and writes down what it returned, or what it raised."""

import asyncio
import importlib.util
import inspect
import json
import os
import sys
import traceback


def told(error, script):
    """The error with the part of its trace that stands in somebody's own code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename != __file__]
    trace = "Traceback (most recent call last):\n" + "".join(traceback.format_list(own))
    trace += "".join(traceback.format_exception_only(type(error), error))
    return {"type": type(error).__name__, "message": str(error), "trace": trace}


def call(order):
    script, name = order["script"], order["function"]
    sys.path.insert(0, order["folder"])
    sys.argv = [script]
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(script))[0], script)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        raise AttributeError(f"the script has no function `{name}`")
    arguments = dict(order["parameters"])
    try:
        taken = inspect.signature(function).parameters
    except (TypeError, ValueError):
        taken = {}
    anything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values())
    for extra in ("inputs", "user_input", "feedback"):
        if extra not in arguments and (extra in taken or anything):
            arguments[extra] = order[extra]
    value = function(**arguments)
    return asyncio.run(value) if inspect.iscoroutine(value) else value


def main():
    order = json.load(sys.stdin)
    sys.stdin = open(os.devnull)
    outcome, status = {}, 0
    try:
        outcome["value"] = call(order)
    except SystemExit as end:
        if end.code not in (None, 0):
            outcome["error"] = told(end, order["script"])
            status = end.code if isinstance(end.code, int) else 1
    except BaseException as error:
        outcome["error"] = told(error, order["script"])
        print(outcome["error"]["trace"], file=sys.stderr, end="")
        status = 1
    sys.stdout.flush()
    try:
        # NaN and infinity are no JSON.
        text = json.dumps(outcome, allow_nan=False)
    except (TypeError, ValueError) as error:
        text = json.dumps({"unwritable": f"{type(outcome.get('value')).__name__}: {error}"})
    with open(order["result"], "w") as file:
        file.write(text)
    # Threads that the script left running do not keep the step alive.
    os._exit(status)


main()
