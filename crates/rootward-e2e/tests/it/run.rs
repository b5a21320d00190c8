//! What a test finds in its environment.

use rootward_e2e::Run;

#[test]
fn without_the_environment_the_error_says_to_run_the_test_command() {
    let error = Run::from_variables(|_| None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "ROOTWARD_TEST_RUN is not set: run ./test, which starts the private servers and says where they are; \
         or ./test --only-servers, and set what it prints"
    );
}

#[test]
fn an_empty_variable_counts_as_missing() {
    let error = Run::from_variables(|name| {
        let value = if name == "ROOTWARD_TEST_REDIS_URL" {
            ""
        } else {
            "something"
        };
        Some(value.to_owned())
    })
    .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("ROOTWARD_TEST_REDIS_URL is not set"),
        "{error}"
    );
}

#[test]
fn a_program_that_is_not_built_is_named_with_its_path() {
    let run = Run::from_variables(|_| Some("something".to_owned())).unwrap();
    let error = run.program("no-such-program").unwrap_err().to_string();
    assert!(
        error.ends_with("/no-such-program is missing: run ./test, which builds it"),
        "{error}"
    );
}
