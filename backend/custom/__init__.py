"""Rewards that a person wrote: kept with versions, run in killable processes of their own."""
