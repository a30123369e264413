"""The shop's orders."""

import requests


def order(number):
    """One order."""
    return requests.get(f"https://shop.example/orders/{number}").json()


def orders():
    """All of them."""
    with requests.Session() as session:
        return session.get("https://shop.example/orders").json()


def cancel(number):
    """The shop answers late."""
    # ast-grep-ignore: requests-timeout
    requests.delete(f"https://shop.example/orders/{number}")
