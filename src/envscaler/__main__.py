"""`python -m envscaler` is the command line."""

from envscaler.cli import main

if __name__ == "__main__":
    main()
