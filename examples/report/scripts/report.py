"""Writes a report from the figures of the checkpoint before, and compares it with the report of the last run."""

import json
import os


def main(inputs):
    given = inputs["referenced_outputs"][0]
    with open(given["path"]) as file:
        figures = json.load(file)
    lines = ["# Weekly report", "", f"{figures['total']} in all.", "", "| day | count |", "|---|---|"]
    lines += [f"| {entry['day']} | {entry['count']} |" for entry in figures["by_day"]]
    if inputs["previous_version"]:
        lines += ["", f"The report before this one was v{inputs['previous_version'][0]['version']}."]
    path = os.path.join(os.environ["HOLDPOINT_STAGING"], "report.md")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    print("the report has", len(lines), "lines")
