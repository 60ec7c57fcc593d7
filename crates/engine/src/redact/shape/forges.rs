//! Tokens of forges, package registries and build services.

use super::{CredentialShape, exact, irregular};

pub(super) const SHAPES: &[CredentialShape] = &[
    exact("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"[A-Za-z0-9]{36,}"),
    exact("github-token", &["github_pat_"], r"[A-Za-z0-9_]{50,}"),
    irregular(
        "gitlab-token",
        &[
            "glpat-",
            "gldt-",
            "glrt-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glsoat-",
            "glimt-",
            "glagent-",
            "gloas-",
            "glffct-",
            "GR1348941",
        ],
        r"[A-Za-z0-9_.-]{20,}",
    ),
    irregular("bitbucket-token", &["ATBB"], r"[A-Za-z0-9]{28,}"),
    irregular("atlassian-token", &["ATATT3", "ATCTT3"], r"[A-Za-z0-9_=-]{60,}"),
    irregular("npm-token", &["npm_"], r"[A-Za-z0-9]{36,}"),
    exact("pypi-token", &["pypi-AgE"], r"[A-Za-z0-9_-]{50,}"),
    exact("rubygems-key", &["rubygems_"], r"[0-9a-f]{48}"),
    irregular("crates-token", &["cio"], r"[A-Za-z0-9]{32}\b"),
    irregular("nuget-key", &["oy2"], r"[a-z0-9]{43}\b"),
    irregular("docker-token", &["dckr_pat_", "dckr_oat_"], r"[A-Za-z0-9_-]{20,}"),
    irregular("sonar-token", &["sqp_", "sqa_", "squ_"], r"[0-9a-f]{40}\b"),
    irregular("circleci-token", &["CCIPAT_", "CCIPRJ_"], r"[A-Za-z0-9_]{40,}"),
    irregular("buildkite-token", &["bkua_", "bkct_"], r"[A-Za-z0-9]{32,}"),
    irregular("clojars-token", &["CLOJARS_"], r"[0-9a-f]{60}"),
    irregular("sourcegraph-token", &["sgp_"], r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}\b"),
    irregular("sourcegraph-token", &["sgd_", "slk_"], r"[0-9a-f]{64}\b"),
    irregular("sentry-token", &["sntrys_", "sntryu_"], r"[A-Za-z0-9_+/=-]{40,}"),
    irregular("prefect-key", &["pnu_", "pnb_"], r"[A-Za-z0-9]{36}\b"),
    exact("postman-key", &["PMAK-"], r"[0-9a-f]{24}-[0-9a-f]{34}"),
];
