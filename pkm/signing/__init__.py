"""The root of the keys that a person signs approvals with."""
