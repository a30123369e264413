"""Prices of a shop."""

import os
from decimal import Decimal


def total(prices: list[Decimal], discount: Decimal) -> Decimal:
    """The sum of all prices, less the discount in percent."""
    sum_of_all = sum(prices, Decimal(0))
    return sum_of_all - sum_of_all * discount


def receipt(items: dict[str, Decimal]) -> str:
    """One line for each item, and the total."""
    lines = [f"{name}: {price}" for name, price in items.items()]
    return "\n".join(lines + [f"total: {totl(list(items.values()), Decimal(0))}"])
