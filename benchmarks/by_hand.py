"""The ledger as a person would write it for speed: dicts and floats, no transaction, no checks of arguments or rules."""

from __future__ import annotations

from typing import Any

__all__ = ["Ledger"]

Result = dict[str, Any]


class Ledger:
    """The same tools as ledger.yaml, answering with the same words."""

    def __init__(self, state: dict[str, dict[str, dict[str, Any]]]) -> None:
        self.customers = state["customers"]
        self.accounts = state["accounts"]
        self.postings = state["postings"]
        self.now = "2031-05-12T10:30:00Z"
        self.today = "2031-05-12"
        self.counter = len(self.accounts)
        self.booked = len(self.postings)

    def account_details(self, account_id: str) -> Result:
        account = self.accounts.get(account_id)
        if account is None:
            return {"success": False, "error": f"There is no account {account_id}."}
        return {
            "success": True,
            "data": {
                "account_id": account_id,
                "customer_id": account["customer_id"],
                "kind": account["kind"],
                "status": account["status"],
                "balance": account["balance"],
                "available": account["balance"] + account["overdraft_limit"],
                "opened": account["opened"],
            },
        }

    def balance(self, account_id: str) -> Result:
        account = self.accounts.get(account_id)
        if account is None:
            return {"success": False, "error": f"There is no account {account_id}."}
        return {"success": True, "data": account["balance"]}

    def accounts_of(self, customer_id: str) -> Result:
        if customer_id not in self.customers:
            return {"success": False, "error": f"There is no customer {customer_id}."}
        found = [
            {"account_id": key, "kind": a["kind"], "balance": a["balance"]}
            for key, a in self.accounts.items()
            if a["customer_id"] == customer_id and a["status"] == "open"
        ]
        return {"success": True, "data": found}

    def total(self, kind: str) -> Result:
        return {"success": True, "data": sum(a["balance"] for a in self.accounts.values() if a["kind"] == kind)}

    def deposit(self, account_id: str, amount: float) -> Result:
        account = self.accounts.get(account_id)
        if account is None:
            return {"success": False, "error": f"There is no account {account_id}."}
        if account["status"] != "open":
            return {"success": False, "error": f"Account {account_id} is {account['status']}."}
        account["balance"] += amount
        self.booked += 1
        posting_id = f"P-{self.booked:06d}"
        self.postings[posting_id] = {"account_id": account_id, "amount": amount, "text": "Deposit", "booked": self.now}
        return {"success": True, "data": {"posting_id": posting_id, "balance": account["balance"]}}

    def transfer(self, source_id: str, target_id: str, amount: float) -> Result:
        source = self.accounts.get(source_id)
        if source is None:
            return {"success": False, "error": f"There is no account {source_id}."}
        target = self.accounts.get(target_id)
        if target is None:
            return {"success": False, "error": f"There is no account {target_id}."}
        if source_id == target_id:
            return {"success": False, "error": "An account cannot pay itself."}
        if source["status"] != "open":
            return {"success": False, "error": f"Account {source_id} is {source['status']}."}
        if target["status"] != "open":
            return {"success": False, "error": f"Account {target_id} is {target['status']}."}
        left = source["balance"] + source["overdraft_limit"]
        if left < amount:
            return {"success": False, "error": f"Only {left} is available."}
        source["balance"] -= amount
        target["balance"] += amount
        self.booked += 1
        self.postings[f"P-{self.booked:06d}"] = {
            "account_id": source_id, "amount": -amount, "text": f"To {target_id}", "booked": self.now,
        }  # fmt: skip
        self.booked += 1
        self.postings[f"P-{self.booked:06d}"] = {
            "account_id": target_id, "amount": amount, "text": f"From {source_id}", "booked": self.now,
        }  # fmt: skip
        return {"success": True, "data": {"source_balance": source["balance"], "target_balance": target["balance"]}}

    def set_overdraft(self, account_id: str, limit: float) -> Result:
        account = self.accounts.get(account_id)
        if account is None:
            return {"success": False, "error": f"There is no account {account_id}."}
        account["overdraft_limit"] = limit
        return {"success": True, "data": {"account_id": account_id, "overdraft_limit": account["overdraft_limit"]}}

    def open_account(self, customer_id: str, kind: str) -> Result:
        if customer_id not in self.customers:
            return {"success": False, "error": f"There is no customer {customer_id}."}
        self.counter += 1
        account_id = f"A-{self.counter:05d}"
        self.accounts[account_id] = {
            "customer_id": customer_id,
            "kind": kind,
            "status": "open",
            "balance": 0.0,
            "overdraft_limit": 0.0,
            "opened": self.today,
        }
        return {"success": True, "data": {"account_id": account_id}}
