"""Asks people: requests, the broker, grants, and the channels that carry a question to somebody.

Called by the gate (which asks) and the supervisor (which wires channels). May call events, wire,
masking, visible and clock; knows neither the policy nor the log.
"""
