use super::*;

fn found(text: &str) -> Option<&str> {
    let at = ["passw", "PASSW", "token", "TOKEN", "secret", "SECRET", "Key", "KEY", "_key"]
        .iter()
        .filter_map(|literal| text.find(literal).map(|at| at..at + literal.len()))
        .min_by_key(|range| range.start)
        .unwrap();
    find_assigned(text.as_bytes(), at).map(|(range, _)| &text[range])
}

#[test]
fn irregular_values_of_telling_names_are_found() {
    // Written with gaps, so that no scanner takes these lines for leaks.
    for text in [
        "DB_PASSWORD=<q7Rt 2mZp 9Lx4>",
        "password: \"<Summer 2024!>\"",
        "token = '<a8f5 f167 f44f 4964 e6c9 98de e827 110c>'",
        "client_secret: <Zk3+ 9fQ/ 7tLm P0sX w2Rb ==>",
        "aws_secret_access_key = </Jb9 rXQt nFzM 1+K7 MDpN G/bP xRfi CYq3 LmZ2 aT4V>",
        "DATADOG_KEY=<q7Rt 2mZp 9Lx4 Vn8w B3Hc 6>",
    ] {
        let (before, rest) = text.split_once('<').unwrap();
        let (secret, after) = rest.split_once('>').unwrap();
        let secret = secret.replace(' ', "");
        assert_eq!(found(&format!("{before}{secret}{after}")), Some(secret.as_str()), "{text}");
    }
}

#[test]
fn what_is_plainly_something_else_stays() {
    for text in [
        "password = os.environ['PASSWORD']",
        "token: $ANTHROPIC_API_KEY",
        "token = process.env.GITHUB_TOKEN_V2",
        "secret: projects/my-app-2/secrets/db1",
        "PASSWORD=/run/secrets/db_password1",
        "token: 550e8400-e29b-41d4-a716-446655440000",
        "token = next_token2",
        "token: 1234567890123456",
        "SECRET_KEY=get_secret(name1)",
        "CACHE_KEY=0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33",
        "token: \"[A-Za-z0-9]{36}x\"",
        "password: user1@mail.example.com",
        "password: string; // at least 8 characters",
        "token: Option<String>,",
        "const TOKEN_READ: u32 = 131072u32;",
        "STATUS_PASSWORD: Status = 0xC000006B_u32;",
        "passwordHash2: 'abc123def456abc123de'",
    ] {
        assert_eq!(found(text), None, "{text}");
    }
}
