//! Anthropic's Messages API.

pub(crate) mod lint;
mod render;
mod request;
mod response;
pub mod thinking;

use super::code::WireCode;

pub(crate) static CODE: WireCode = WireCode {
    request: request::FORMAT,
    write_text_request: request::write,
    check: lint::check,
    render: render::body,
    read_response: response::read,
};
