"""Who may come in: Host, Origin, token; and what every answer carries."""

import gzip

import httpx
import pytest

from scumble.gui import guard
from scumble.gui.guard import CONTENT_SECURITY_POLICY
from tests.gui.conftest import PATIENCE, TOKEN

KEY = {"authorization": f"Bearer {TOKEN}"}


def get(server, path="/api/v1/about", **headers):
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.get(server.address + path, headers=names, timeout=PATIENCE)


def test_only_the_token_gives_access(server):
    assert get(server, authorization=f"Bearer {TOKEN}").status_code == 200
    for wrong in (
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": TOKEN},
        {"authorization": b"Bearer \xff"},
        {"cookie": f"scumble-{server.settings.port}={TOKEN}"},
        {"cookie": f"token={TOKEN}"},
    ):
        refused = get(server, **wrong)
        assert refused.status_code == 401, wrong
        assert "token" in refused.text
        assert "set-cookie" not in refused.headers


@pytest.mark.parametrize("path", ["/", "/d/debtags/labels", "/static/style.css", "/favicon.ico"])
def test_pages_and_their_files_are_the_same_for_all_and_set_no_cookie(server, path):
    answers = [get(server, path), get(server, f"{path}?token={TOKEN}"), get(server, path, **KEY)]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert len({answer.content for answer in answers}) == 1
    assert all("set-cookie" not in answer.headers for answer in answers)


@pytest.mark.parametrize("path", ["/api/v1/about", "/api/v1/nowhere", "/api/", "/%61pi/v1/about"])
def test_the_api_needs_the_token_as_a_header(server, path):
    assert get(server, path).status_code == 401
    assert get(server, path, **KEY).status_code != 401
    # A link to the API must not work by itself: addresses are copied, logged and guessed.
    assert get(server, f"{path}?token={TOKEN}").status_code == 401


def ticket_for(server, address):
    response = httpx.post(
        f"{server.address}/api/v1/tickets", json={"address": address}, headers=KEY, timeout=PATIENCE
    )
    assert response.status_code == 200, response.text
    return response.json()["address"]


def test_a_ticket_opens_one_address_once(server):
    once = ticket_for(server, "/api/v1/about")
    assert once.startswith("/api/v1/about?ticket=")
    assert get(server, once).json()["version"]
    assert get(server, once).status_code == 401
    other = ticket_for(server, "/api/v1/about")
    assert get(server, other.replace("about", "jobs")).status_code == 401
    assert get(server, other).status_code == 401  # it was tried on another door
    address = ticket_for(server, "/api/v1/datasets/nonesuch/labels.csv?q=a+b&sort=count")
    assert get(server, address.replace("sort=count", "sort=name")).status_code == 401
    address = ticket_for(server, "/api/v1/datasets/nonesuch/labels.csv?q=a+b&sort=count")
    assert get(server, address).status_code == 404  # the door is open, the data set is not
    posted = ticket_for(server, "/api/v1/examples/debtags")
    assert httpx.post(server.address + posted, timeout=PATIENCE).status_code == 401


def test_tickets_are_for_the_api_and_run_out(server, monkeypatch):
    for wrong in ({}, {"address": 3}, {"address": "/"}, {"address": "http://evil.example/"}):
        response = httpx.post(
            f"{server.address}/api/v1/tickets", json=wrong, headers=KEY, timeout=PATIENCE
        )
        assert response.status_code == 422
    monkeypatch.setattr(guard, "DOWNLOAD_TOKEN_SECONDS", -1.0)
    assert get(server, ticket_for(server, "/api/v1/about")).status_code == 401
    monkeypatch.undo()
    many = [ticket_for(server, "/api/v1/about") for _ in range(3)]
    monkeypatch.setattr(guard, "MAX_DOWNLOAD_TOKENS", 2)
    last = ticket_for(server, "/api/v1/about")
    assert [get(server, address).status_code for address in (*many, last)] == [401, 401, 200, 200]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{port}"]
)
def test_other_host_names_are_refused(server, host):
    named = host.format(port=server.settings.port)
    assert get(server, host=named, **KEY).status_code == 421


def test_names_of_this_machine_are_answered(server):
    for host in server.settings.authorities:
        assert get(server, host=host, **KEY).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}", ""]
)
def test_other_origins_are_refused_even_with_the_token(server, origin):
    named = origin.format(port=server.settings.port)
    assert get(server, origin=named, **KEY).status_code == 403
    address = f"{server.address}/api/v1/examples/debtags"
    posted = httpx.post(address, headers={"origin": named, **KEY}, timeout=PATIENCE)
    assert posted.status_code == 403


def test_our_own_origin_is_answered(server):
    assert get(server, origin=server.address, **KEY).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_may_link_to_a_page_and_do_nothing_else(server, site):
    fetch = {"sec_fetch_site": site, "sec_fetch_mode": "cors"}
    follow = {"sec_fetch_site": site, "sec_fetch_mode": "navigate"}
    assert get(server, "/static/style.css", **fetch, **KEY).status_code == 403
    assert get(server, "/api/v1/about", **fetch, **KEY).status_code == 403
    assert get(server, "/api/v1/about", **follow, **KEY).status_code == 403
    assert get(server, "/", **follow, **KEY).status_code == 200


@pytest.mark.parametrize("path", ["/", "/api/v1/about", "/api/v1/nowhere", "/static/none.js"])
@pytest.mark.parametrize("headers", [KEY, {}])
def test_every_answer_carries_the_policy(server, path, headers):
    result = get(server, path, **headers).headers
    assert result["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert result["x-content-type-options"] == "nosniff"
    assert result["x-frame-options"] == "DENY"
    assert result["referrer-policy"] == "no-referrer"
    assert result["cross-origin-resource-policy"] == "same-origin"
    assert result["cache-control"] in ("no-store", "no-cache")
    assert "server" not in result or "uvicorn" in result["server"]


def test_files_of_the_page_are_sent_compressed_to_who_takes_them_so(server):
    plain = get(server, "/static/style.css", accept_encoding="identity")
    assert "content-encoding" not in plain.headers
    with httpx.stream("GET", f"{server.address}/static/style.css", timeout=PATIENCE) as packed:
        raw = b"".join(packed.iter_raw())
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.headers["vary"] == "accept-encoding"
    assert gzip.decompress(raw) == plain.content
    assert len(raw) < len(plain.content) / 2


def test_files_outside_of_the_page_cannot_be_named(server):
    for path in ("../web.py", "%2e%2e/web.py", "..%2f..%2fpyproject.toml", "/etc/passwd", "js"):
        answer = get(server, f"/static/{path}", **KEY)
        assert answer.status_code in (200, 404)
        assert b"import" not in answer.content or answer.headers["content-type"].startswith(
            "text/html"
        )
    assert get(server, "/static/js/none.js", **KEY).status_code == 404


def test_the_page_has_no_inline_script_or_style_and_no_foreign_address(server):
    from scumble.gui.server import assets

    page = assets()["index.html"].decode()
    assert "<style" not in page
    assert "style=" not in page
    assert " on" not in page.replace(" only", "").split("<body>")[0].split("<script")[1]
    for name, content in assets().items():
        text = content.decode()
        foreign = {
            part.split('"')[0].split("'")[0].split(")")[0].split(" ")[0].split("<")[0]
            for part in text.split("http")[1:]
            if part.startswith(("://", "s://"))
        }
        assert foreign <= {"://www.w3.org/2000/svg"}, name
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, (name, word)
