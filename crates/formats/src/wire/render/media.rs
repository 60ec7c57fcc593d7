//! Images and files: read from any wire or log, written for any wire.

use std::borrow::Cow;

use crate::json::fields::{object, raw_fields};
use crate::json::{Raw, decode, encode};

/// A file, as far as a provider needs to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Media<'a> {
    /// The file itself, in base64.
    Data { mime: Cow<'a, str>, data: Cow<'a, str> },
    /// The address of the file, and its type if that is known.
    Link { mime: Option<Cow<'a, str>>, url: Cow<'a, str> },
}

raw_fields!(
    /// The members of a block that holds a file, in any wire or log.
    MediaFields { source: "source", image_url: "image_url", file: "file", audio: "input_audio", inline: "inlineData",
            inline_snake: "inline_data", linked: "fileData", file_data: "file_data", file_url: "file_url",
            data: "data", url: "url", image: "image", mime: "mimeType", media: "mediaType", mime_short: "mime",
            media_snake: "media_type", mime_snake: "mime_type", uri: "fileUri", uri_snake: "file_uri",
            format: "format" }
);

impl<'a> Media<'a> {
    /// The file in a raw block; none if the block only names a file that another provider keeps.
    pub(crate) fn of(raw: &'a str) -> Option<Self> {
        if raw.starts_with('"') {
            return Self::of_url(decode(raw), None);
        }
        let block = fields(raw)?;
        let inner = block.source.or(block.inline).or(block.inline_snake).or(block.linked).or(block.audio);
        let inner = inner.or(block.file).or(block.file_data).or(block.image_url);
        let inner = inner.filter(|inner| inner.text().starts_with('{'));
        let innermost = inner.and_then(|inner| fields(inner.text())).unwrap_or(block);
        innermost.media().or_else(|| block.media())
    }

    /// The file at an address, or in it.
    fn of_url(url: Cow<'a, str>, mime: Option<Cow<'a, str>>) -> Option<Self> {
        if url.starts_with("http://") || url.starts_with("https://") || url.starts_with("gs://") {
            return Some(Media::Link { mime, url });
        }
        let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
        let own = head.strip_suffix(";base64")?.split(';').next().unwrap_or_default().to_owned();
        let mime = if own.is_empty() { mime? } else { Cow::Owned(own) };
        Some(Media::Data { mime, data: Cow::Owned(data.to_owned()) })
    }

    fn mime(&self) -> &str {
        match self {
            Media::Data { mime, .. } => mime,
            Media::Link { mime: Some(mime), .. } => mime,
            Media::Link { url, .. } if url.ends_with(".pdf") => "application/pdf",
            Media::Link { .. } => "image/*",
        }
    }

    fn is_image(&self) -> bool {
        match self {
            Media::Data { mime, .. } => {
                matches!(&**mime, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
            }
            Media::Link { .. } => self.mime().starts_with("image/"),
        }
    }

    fn is_document(&self) -> bool {
        self.mime() == "application/pdf"
    }

    /// The address of the file. A data URL holds the file itself.
    fn address(&self) -> String {
        match self {
            Media::Data { mime, data } => format!("data:{mime};base64,{data}"),
            Media::Link { url, .. } => url.to_string(),
        }
    }

    fn is_reachable(&self) -> bool {
        !matches!(self, Media::Link { url, .. } if url.starts_with("gs://"))
    }

    /// Anthropic's block.
    pub(crate) fn anthropic(&self) -> Option<String> {
        let kind = match () {
            () if self.is_image() => "image",
            () if self.is_document() => "document",
            () => return None,
        };
        let source = match self {
            Media::Data { mime, data } => {
                format!(r#"{{"type":"base64","media_type":{},"data":{}}}"#, encode(mime), encode(data))
            }
            Media::Link { url, .. } => format!(r#"{{"type":"url","url":{}}}"#, encode(url)),
        };
        self.is_reachable().then(|| format!(r#"{{"type":"{kind}","source":{source}}}"#))
    }

    /// The block of OpenAI's chats.
    pub(crate) fn openai_chat(&self) -> Option<String> {
        let address = encode(&self.address());
        match self {
            _ if self.is_image() && self.is_reachable() => {
                Some(format!(r#"{{"type":"image_url","image_url":{{"url":{address}}}}}"#))
            }
            Media::Data { mime, data } if matches!(&**mime, "audio/wav" | "audio/mp3" | "audio/mpeg") => {
                let format = if mime == "audio/wav" { "wav" } else { "mp3" };
                let data = encode(data);
                Some(format!(
                    r#"{{"type":"input_audio","input_audio":{{"data":{data},"format":"{format}"}}}}"#
                ))
            }
            Media::Data { .. } if self.is_document() => {
                let file = format!(r#"{{"filename":"document.pdf","file_data":{address}}}"#);
                Some(format!(r#"{{"type":"file","file":{file}}}"#))
            }
            _ => None,
        }
    }

    /// The block of OpenAI's Responses.
    pub(crate) fn openai_responses(&self) -> Option<String> {
        let address = encode(&self.address());
        match self {
            _ if !self.is_reachable() => None,
            _ if self.is_image() => Some(format!(r#"{{"type":"input_image","image_url":{address}}}"#)),
            Media::Data { .. } if self.is_document() => {
                Some(format!(r#"{{"type":"input_file","filename":"document.pdf","file_data":{address}}}"#))
            }
            Media::Link { .. } if self.is_document() => {
                Some(format!(r#"{{"type":"input_file","file_url":{address}}}"#))
            }
            _ => None,
        }
    }

    /// Google's part. A link needs a type.
    pub(crate) fn gemini(&self) -> Option<String> {
        match self {
            Media::Data { mime, data } => {
                let (mime, data) = (encode(mime), encode(data));
                Some(format!(r#"{{"inlineData":{{"mimeType":{mime},"data":{data}}}}}"#))
            }
            Media::Link { mime, url } => {
                let mime = mime.as_deref().or_else(|| mime_of(url))?;
                let (mime, url) = (encode(mime), encode(url));
                Some(format!(r#"{{"fileData":{{"mimeType":{mime},"fileUri":{url}}}}}"#))
            }
        }
    }
}

/// The type of a file by the extension in its address.
fn mime_of(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    Some(match path.rsplit_once('.')?.1 {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        _ => return None,
    })
}

fn fields(raw: &str) -> Option<MediaFields<'_>> {
    object(raw).ok().flatten()
}

impl<'a> MediaFields<'a> {
    fn media(self) -> Option<Media<'a>> {
        let mime = self.mime.or(self.media).or(self.media_snake).or(self.mime_snake).or(self.mime_short);
        let mime = mime.and_then(Raw::as_str).or_else(|| {
            let format = self.format.and_then(Raw::as_str)?;
            Some(Cow::Owned(format!("audio/{format}")))
        });
        let addresses =
            [self.url, self.image_url, self.uri, self.uri_snake, self.file_data, self.file_url, self.image];
        let addressed = addresses.into_iter().flatten().filter_map(Raw::as_str);
        if let Some(media) = addressed.filter_map(|url| Media::of_url(url, mime.clone())).next() {
            return Some(media);
        }
        let data = self.data.or(self.image).and_then(Raw::as_str).filter(|data| !data.is_empty())?;
        if data.starts_with("data:") {
            return Media::of_url(data, mime);
        }
        Some(Media::Data { mime: mime?, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_image_is_read_from_every_dialect() {
        for raw in [
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}"#,
            r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}"#,
            r#"{"type":"input_image","image_url":"data:image/png;base64,AAAA"}"#,
            r#"{"inlineData":{"mimeType":"image/png","data":"AAAA"}}"#,
            r#"{"inline_data":{"mime_type":"image/png","data":"AAAA"}}"#,
            r#"{"type":"image","data":"AAAA","mimeType":"image/png"}"#,
            r#"{"type":"file","mediaType":"image/png","url":"data:image/png;base64,AAAA"}"#,
            r#""data:image/png;base64,AAAA""#,
        ] {
            let expected = Media::Data { mime: "image/png".into(), data: "AAAA".into() };
            assert_eq!(Media::of(raw), Some(expected), "{raw}");
        }
    }

    #[test]
    fn what_only_another_provider_has_cannot_be_read() {
        for raw in [
            r#"{"type":"image","source":{"type":"file","file_id":"f"}}"#,
            r#"{"type":"input_file","file_id":"f"}"#,
            r#"{"type":"image","source":7}"#,
            "{}",
            "7",
        ] {
            assert_eq!(Media::of(raw), None, "{raw}");
        }
    }

    #[test]
    fn every_wire_reads_back_what_it_was_given() {
        let links = r#"{"type":"input_image","image_url":"https://example.org/a.png"}"#;
        let document = r#"{"type":"file","file":{"file_data":"data:application/pdf;base64,AAAA"}}"#;
        for raw in [links, document] {
            let media = Media::of(raw).unwrap();
            for block in [media.anthropic(), media.openai_chat(), media.openai_responses(), media.gemini()] {
                let block = block.unwrap();
                assert_eq!(Media::of(&block).unwrap().address(), media.address(), "{block}");
            }
        }
    }
}
