//! Tokens of forges, package registries and build services.

use super::Shape;

pub(super) const SHAPES: &[Shape] = &[
    Shape::exact("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"[A-Za-z0-9]{36,}"),
    Shape::exact("github-token", &["github_pat_"], r"[A-Za-z0-9_]{50,}"),
    Shape::irregular(
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
    Shape::irregular("bitbucket-token", &["ATBB"], r"[A-Za-z0-9]{28,}"),
    Shape::irregular("atlassian-token", &["ATATT3", "ATCTT3"], r"[A-Za-z0-9_=-]{60,}"),
    Shape::irregular("npm-token", &["npm_"], r"[A-Za-z0-9]{36,}"),
    Shape::exact("pypi-token", &["pypi-AgE"], r"[A-Za-z0-9_-]{50,}"),
    Shape::exact("rubygems-key", &["rubygems_"], r"[0-9a-f]{48}"),
    Shape::irregular("crates-token", &["cio"], r"[A-Za-z0-9]{32}\b"),
    Shape::irregular("nuget-key", &["oy2"], r"[a-z0-9]{43}\b"),
    Shape::irregular("docker-token", &["dckr_pat_", "dckr_oat_"], r"[A-Za-z0-9_-]{20,}"),
    Shape::irregular("sonar-token", &["sqp_", "sqa_", "squ_"], r"[0-9a-f]{40}\b"),
    Shape::irregular("circleci-token", &["CCIPAT_", "CCIPRJ_"], r"[A-Za-z0-9_]{40,}"),
    Shape::irregular("buildkite-token", &["bkua_", "bkct_"], r"[A-Za-z0-9]{32,}"),
    Shape::irregular("clojars-token", &["CLOJARS_"], r"[0-9a-f]{60}"),
    Shape::irregular("sentry-token", &["sntrys_", "sntryu_"], r"[A-Za-z0-9_+/=-]{40,}"),
    Shape::irregular("prefect-key", &["pnu_", "pnb_"], r"[A-Za-z0-9]{36}\b"),
    Shape::exact("postman-key", &["PMAK-"], r"[0-9a-f]{24}-[0-9a-f]{34}"),
];
