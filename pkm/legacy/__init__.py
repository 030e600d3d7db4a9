"""What the old system left: imported by the operator, moved into segments by its owner's browser, then gone."""
