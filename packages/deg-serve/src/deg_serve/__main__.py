"""`python -m deg_serve`: serve the default model on one address."""

from __future__ import annotations

import argparse

import uvicorn

from deg_runtime import load
from deg_serve.app import create_app


def main() -> None:
    """Read the command line, load the model and serve until stopped."""
    parser = argparse.ArgumentParser(prog="deg_serve", description="Serve a deg model over HTTP.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=8790, help="port to listen on (%(default)s)")
    parser.add_argument(
        "--max-pending", type=int, default=256, help="requests that may wait (%(default)s)"
    )
    arguments = parser.parse_args()
    app = create_app(load(), max_pending=arguments.max_pending)
    uvicorn.run(app, host=arguments.host, port=arguments.port, log_level="info")


if __name__ == "__main__":
    main()
