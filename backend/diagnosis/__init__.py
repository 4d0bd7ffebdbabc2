"""Why a run learns or does not: rules over its own records, their findings, one sentence that agrees with them."""
