"""What goes wrong, as the API says it: always {"detail": one line of text}."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from theodolite.errors import InputError


class NotFound(Exception):
    """What was asked for is not there."""


class Detail(BaseModel):
    """What went wrong."""

    detail: str = Field(description="One line for the person who asked.")


def answer_faults(app: FastAPI) -> None:
    """Make answers of the errors that may reach the top."""
    app.add_exception_handler(InputError, _answer(422))
    app.add_exception_handler(NotFound, _answer(404))
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(UnicodeEncodeError, _half_a_character)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unforeseen)


def fault(status: int, said: str) -> JSONResponse:
    """An answer that says what went wrong."""
    return JSONResponse({"detail": " ".join(said.split())}, status)


def _answer(status: int) -> Callable[[Request, Exception], Response]:
    def answer(_request: Request, error: Exception) -> Response:
        return fault(status, str(error))

    return answer


def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    said = [f"{'.'.join(str(part) for part in one['loc'][1:])}: {one['msg']}" for one in error.errors()]
    return fault(422, "; ".join(said) or "the request is not as the API describes it")


def _half_a_character(_request: Request, _error: Exception) -> Response:
    # JSON may spell one, and nothing that is kept or tokenised may hold it.
    return fault(422, "a text holds half a character (a lone surrogate); type it anew")


def _http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return fault(error.status_code, str(error.detail))


def _unforeseen(_request: Request, error: Exception) -> Response:
    return fault(500, f"the studio failed at this ({type(error).__name__}); its terminal says more")
