use super::*;

fn authorized(text: &str) -> Option<&str> {
    let at = text.to_lowercase().find("authorization").unwrap() + "authorization".len();
    find_authorization(text.as_bytes(), at).map(|(range, _)| &text[range])
}

fn cookies(text: &str) -> Vec<&str> {
    let at = text.to_lowercase().find("cookie").unwrap() + "cookie".len();
    let mut values = Vec::new();
    find_cookies(text.as_bytes(), at, |range| values.push(&text[range]));
    values
}

#[test]
fn the_token_of_a_header_is_found_in_every_spelling() {
    let token = ["q7Rt2mZp", "9Lx4Vn8w"].concat();
    for text in [
        format!("Authorization: Bearer {token}"),
        format!("authorization: {token}"),
        format!("curl -H 'Authorization: Bearer {token}' x"),
        format!("{{\"Authorization\": \"Bearer {token}\"}}"),
        format!("{{\\\"Authorization\\\": \\\"token {token}\\\"}}"),
        format!("headers['Authorization'] = 'Bearer {token}'"),
        format!("setHeader(\"Authorization\", \"Bearer {token}\")"),
        format!("AUTHORIZATION=Bearer {token}"),
    ] {
        assert_eq!(authorized(&text), Some(token.as_str()), "{text}");
    }
}

#[test]
fn a_header_without_a_token_stays() {
    for text in [
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer ${TOKEN}",
        "\"Authorization\": f\"Bearer {token}\"",
        "Authorization: Bearer <token>",
        "authorization: required for administrators",
        "Authorization header is missing",
        "Authorization: Bearer your-api-key-2",
        "Authorization: `Bearer ${apiKey}`",
    ] {
        assert_eq!(authorized(text), None, "{text}");
    }
}

#[test]
fn a_basic_credential_is_known_by_what_it_decodes_to() {
    assert!(decodes_to_pair(b"dXNlcjpwYXNz"), "user:pass");
    assert!(!decodes_to_pair(b"authentication"));
    assert!(!decodes_to_pair(b"QUJDREVGR0g="), "no colon");
}

#[test]
fn cookies_of_sessions_are_found_and_others_stay() {
    let id = ["q7Rt2mZp", "9Lx4Vn8w"].concat();
    assert_eq!(cookies(&format!("Cookie: theme=dark; sessionid={id}; lang=en")), [id.as_str()]);
    assert_eq!(cookies(&format!("Set-Cookie: connect.sid={id}; Path=/; HttpOnly")), [id.as_str()]);
    assert_eq!(cookies(&format!("\"cookie\": \"a={id}; b={id}\"")), [id.as_str(), id.as_str()]);
    assert!(cookies("Cookie: theme=dark; consent=accepted").is_empty());
    assert!(cookies("Cookie: session=<value>").is_empty());
    assert!(cookies("cookies are small").is_empty());
}
