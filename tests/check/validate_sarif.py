# SPDX-License-Identifier: MIT
"""Holds a SARIF file against the official schema: validate_sarif.py SCHEMA FILE. Prints what is wrong; exit 1 then."""
import json
import sys

import jsonschema

schema = json.load(open(sys.argv[1], encoding="utf-8"))
log = json.load(open(sys.argv[2], encoding="utf-8"))
validator = jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker())
faults = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(log)]
for run in log["runs"]:  # what the standard asks for beyond its schema
    rules = run["tool"]["driver"]["rules"]
    if len({rule["id"] for rule in rules}) != len(rules):
        faults.append("two rules have one id")
    for result in run["results"]:
        if "ruleIndex" in result and rules[result["ruleIndex"]]["id"] != result["ruleId"]:
            faults.append(f"ruleIndex of {result['ruleId']} is another rule's")
print("\n".join(faults))
sys.exit(1 if faults else 0)
