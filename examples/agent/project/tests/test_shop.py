import unittest
from decimal import Decimal

from shop import receipt, total


class Shop(unittest.TestCase):
    def test_a_discount_is_in_percent(self):
        self.assertEqual(total([Decimal(40), Decimal(60)], Decimal(25)), Decimal(75))

    def test_a_receipt_ends_with_the_total(self):
        self.assertEqual(receipt({"tea": Decimal(3), "cup": Decimal(7)}), "tea: 3\ncup: 7\ntotal: 10")


if __name__ == "__main__":
    unittest.main()
