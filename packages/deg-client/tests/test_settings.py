from __future__ import annotations

import pytest

from deg_client import Client, InvalidSetting


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"base_url": "127.0.0.1:8790"}, "must be as 'http://127.0.0.1:8790' is"),
        ({"base_url": "ftp://deg.test"}, "must be as"),
        ({"base_url": "http://"}, "must be as"),
        ({"base_url": "http://deg.test/?a=1"}, "must end before"),
        ({"base_url": "http://deg.test:port"}, "is no URL"),
        ({"base_url": "http://me:s3cret@deg.test"}, "use 'api_key'"),
        ({"api_key": "s3cret\n"}, "no HTTP header can"),
        ({"api_key": "s3crét"}, "no HTTP header can"),
        ({"timeout": 0}, "'timeout' is a positive number"),
        ({"retries": -1}, "'retries' is a whole number"),
        ({"retries": 1.5}, "'retries' is a whole number"),
    ],
)
def test_a_setting_that_no_call_could_use_is_refused(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidSetting, match=message) as caught:
        Client(**settings)  # type: ignore[arg-type]
    assert "s3cr" not in str(caught.value)


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEG_BASE_URL", "")
    with Client() as client:
        assert repr(client) == "Client('http://127.0.0.1:8790')"


def test_a_server_may_lie_under_a_path() -> None:
    with Client("https://deg.test/proxied/") as client:
        assert repr(client) == "Client('https://deg.test/proxied')"
