//! `rootward schema`: what editors are given.

use serde_json::Value;

use crate::program::run;

#[test]
fn each_kind_of_file_has_a_schema() {
    for (arguments, key) in [
        (&["schema"][..], "services"),
        (&["schema", "aggregator"], "services"),
        (&["schema", "agent"], "checks"),
    ] {
        let ended = run(arguments).with(0);
        assert_eq!(ended.err, "");
        let schema: Value = serde_json::from_str(&ended.out).expect("it is JSON");
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        assert!(schema["properties"][key].is_object(), "{key}");
        assert_eq!(schema["additionalProperties"], false);
    }
    run(&["schema", "probe"]).with(2);
}
