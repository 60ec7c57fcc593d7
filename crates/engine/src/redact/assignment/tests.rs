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
    for (text, secret) in [
        ("DB_PASSWORD=q7Rt2mZp9Lx4", "q7Rt2mZp9Lx4"),
        ("password: \"Summer2024!\"", "Summer2024!"),
        ("token = 'a8f5f167f44f4964e6c998dee827110c'", "a8f5f167f44f4964e6c998dee827110c"),
        ("client_secret: Zk3+9fQ/7tLmP0sXw2Rb==", "Zk3+9fQ/7tLmP0sXw2Rb=="),
        (
            "aws_secret_access_key = /Jb9rXQtnFzM1+K7MDpNG/bPxRfiCYq3LmZ2aT4V",
            "/Jb9rXQtnFzM1+K7MDpNG/bPxRfiCYq3LmZ2aT4V",
        ),
        ("DATADOG_KEY=q7Rt2mZp9Lx4Vn8wB3Hc6", "q7Rt2mZp9Lx4Vn8wB3Hc6"),
    ] {
        assert_eq!(found(text), Some(secret), "{text}");
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
        "passwordHash2: 'abc123def456abc123de'",
    ] {
        assert_eq!(found(text), None, "{text}");
    }
}
