use super::*;

/// The names of the rules that a body breaks, with the places.
fn found(wire: Wire, body: &str) -> Vec<String> {
    lint(wire, body).iter().map(|finding| format!("{} {}", finding.rule, finding.path)).collect()
}

/// Repairs a body all of whose faults can be repaired.
fn repaired(wire: Wire, body: &str) -> String {
    let fixed = fix(wire, body);
    assert_eq!(fixed.remaining, [], "{}", fixed.body);
    assert_eq!(fix(wire, &fixed.body).body, fixed.body);
    fixed.body.into_owned()
}

fn anthropic(messages: &str) -> String {
    format!(r#"{{"model":"m","max_tokens":1,"messages":[{messages}]}}"#)
}

fn chat(messages: &str) -> String {
    format!(r#"{{"messages":[{messages}]}}"#)
}

fn responses(items: &str) -> String {
    format!(r#"{{"model":"m","input":[{items}]}}"#)
}

fn gemini(contents: &str) -> String {
    format!(r#"{{"contents":[{contents}]}}"#)
}

const ASK: &str = r#"{"role":"user","content":"go"}"#;
const CALL: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
const RESULT: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#;

#[test]
fn what_is_no_request_is_said_so() {
    for wire in Wire::ALL {
        assert_eq!(found(wire, "{\"a\":"), ["not-json $"]);
        assert_eq!(found(wire, "[]"), ["not-an-object $"]);
        assert_eq!(fix(wire, "[]").body, "[]");
        assert!(found(wire, "{}").iter().all(|found| found == "missing-field $"));
        assert!(!found(wire, "{}").is_empty());
    }
    let finding = serde_json::to_value(&lint(Wire::Gemini, "1")[0]).unwrap();
    assert_eq!((&finding["rule"], &finding["fixable"]), (&"not-an-object".into(), &false.into()));
}

#[test]
fn counting_tokens_needs_no_limit_but_generating_does() {
    let body = format!(r#"{{"model":"m","messages":[{ASK}]}}"#);
    assert!(found(Wire::Anthropic, &body).is_empty());
    assert_eq!(found(Wire::Anthropic, &body.replacen('{', r#"{"stream":true,"#, 1)), ["missing-field $"]);
}

#[test]
fn an_anthropic_call_without_a_result_gets_one_before_other_blocks() {
    let body = anthropic(&format!(r#"{ASK},{CALL},{{"role":"user","content":"next"}}"#));
    assert_eq!(found(Wire::Anthropic, &body), ["call-without-result $.messages[1].content[0]"]);
    let result =
        format!(r#"{{"type":"tool_result","tool_use_id":"a","content":"{NO_RESULT}","is_error":true}}"#);
    let expected = body.replace("\"next\"", &format!(r#"[{result},{{"type":"text","text":"next"}}]"#));
    assert_eq!(repaired(Wire::Anthropic, &body), expected);
    let at_the_end = anthropic(&format!("{ASK},{CALL}"));
    let expected = anthropic(&format!(r#"{ASK},{CALL},{{"role":"user","content":[{result}]}}"#));
    assert_eq!(repaired(Wire::Anthropic, &at_the_end), expected);
}

#[test]
fn anthropic_results_go_to_their_calls() {
    let later = r#"{"role":"assistant","content":"hm"}"#;
    let body = anthropic(&format!("{ASK},{CALL},{ASK},{later},{RESULT}"));
    assert_eq!(found(Wire::Anthropic, &body), ["misplaced-result $.messages[4].content[0]"]);
    let result = r#"{"type":"tool_result","tool_use_id":"a","content":"x"}"#;
    let both = format!(r#"{{"role":"user","content":[{result},{{"type":"text","text":"go"}}]}}"#);
    let empty = format!(r#"{{"role":"user","content":"{NO_CONTENT}"}}"#);
    let expected = anthropic(&format!("{ASK},{CALL},{both},{later},{empty}"));
    assert_eq!(repaired(Wire::Anthropic, &body), expected);
    // Behind a text of the same turn is behind too many; in the next message of the turn is not.
    let late = anthropic(&format!("{ASK},{CALL},{ASK},{RESULT}"));
    assert_eq!(found(Wire::Anthropic, &late), ["misplaced-result $.messages[3].content[0]"]);
    assert_eq!(repaired(Wire::Anthropic, &late), anthropic(&format!("{ASK},{CALL},{both}")));
    assert!(found(Wire::Anthropic, &anthropic(&format!("{ASK},{CALL},{RESULT},{ASK}"))).is_empty());
}

#[test]
fn anthropic_results_without_calls_become_text_and_second_ones_go() {
    let body = anthropic(&format!("{ASK},{RESULT}"));
    assert_eq!(found(Wire::Anthropic, &body), ["orphaned-result $.messages[1].content[0]"]);
    let text = r#"{"role":"user","content":[{"type":"text","text":"x"}]}"#;
    assert_eq!(repaired(Wire::Anthropic, &body), anthropic(&format!("{ASK},{text}")));
    let body = anthropic(&format!("{ASK},{CALL},{RESULT},{RESULT}"));
    assert_eq!(found(Wire::Anthropic, &body), ["duplicate-result $.messages[3].content[0]"]);
    assert_eq!(repaired(Wire::Anthropic, &body), anthropic(&format!("{ASK},{CALL},{RESULT}")));
}

#[test]
fn anthropic_ids_are_unique_and_plain() {
    let body = anthropic(&format!("{ASK},{CALL},{RESULT},{CALL},{RESULT}"));
    assert_eq!(found(Wire::Anthropic, &body), ["duplicate-call $.messages[3].content[0]"]);
    let again = |text: &str| text.replace("\"a\"", "\"a_1\"");
    let expected = anthropic(&format!("{ASK},{CALL},{RESULT},{},{}", again(CALL), again(RESULT)));
    assert_eq!(repaired(Wire::Anthropic, &body), expected);
    let odd = anthropic(&format!("{ASK},{CALL},{RESULT}")).replace("\"a\"", "\"a.b\"");
    assert_eq!(found(Wire::Anthropic, &odd), ["invalid-id $.messages[1].content[0]"]);
    assert_eq!(repaired(Wire::Anthropic, &odd), odd.replace("\"a.b\"", "\"a_b_0\""));
}

#[test]
fn anthropic_content_is_neither_empty_nor_trailing() {
    let block = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let user = |blocks: &str| format!(r#"{{"role":"user","content":[{blocks}]}}"#);
    let body = anthropic(&user(&format!("{},{}", block(""), block("x"))));
    assert_eq!(found(Wire::Anthropic, &body), ["empty-content $.messages[0].content[0]"]);
    assert_eq!(repaired(Wire::Anthropic, &body), anthropic(&user(&block("x"))));
    // White space beside a text is accepted, alone it is not.
    assert!(found(Wire::Anthropic, &anthropic(&user(&format!("{},{}", block(" "), block("x"))))).is_empty());
    assert_eq!(found(Wire::Anthropic, &anthropic(&user(&block("\\n ")))).len(), 1);
    assert_eq!(
        repaired(Wire::Anthropic, &anthropic(&user(""))),
        anthropic(&format!(r#"{{"role":"user","content":"{NO_CONTENT}"}}"#))
    );
    let final_said = |text: &str| anthropic(&format!(r#"{ASK},{{"role":"assistant","content":"{text}"}}"#));
    assert!(found(Wire::Anthropic, &final_said("")).is_empty());
    assert_eq!(found(Wire::Anthropic, &final_said("a \\n")), ["trailing-whitespace $.messages[1].content"]);
    assert_eq!(repaired(Wire::Anthropic, &final_said("a \\n")), final_said("a"));
    assert!(found(Wire::Anthropic, &final_said("a\\\\n")).is_empty());
    let first = anthropic(r#"{"role":"assistant","content":"a"}"#);
    assert_eq!(found(Wire::Anthropic, &first), ["role-order $.messages[0]"]);
    repaired(Wire::Anthropic, &first);
}

#[test]
fn anthropic_thinking_is_signed_and_followed() {
    let said =
        |blocks: &str| anthropic(&format!(r#"{ASK},{{"role":"assistant","content":[{blocks}]}},{ASK}"#));
    let text = r#"{"type":"text","text":"x"}"#;
    let unsigned = r#"{"type":"thinking","thinking":"t","signature":""}"#;
    let signed = r#"{"type":"thinking","thinking":"t","signature":"s"}"#;
    let body = said(&format!("{unsigned}, {text}"));
    assert_eq!(found(Wire::Anthropic, &body), ["unsigned-thinking $.messages[1].content[0]"]);
    assert_eq!(repaired(Wire::Anthropic, &body), said(text));
    let body = said(&format!("{text},{signed}"));
    assert_eq!(found(Wire::Anthropic, &body), ["detached-thinking $.messages[1].content[1]"]);
    assert_eq!(repaired(Wire::Anthropic, &body), said(text));
    assert!(found(Wire::Anthropic, &said(&format!("{signed},{text}"))).is_empty());
    assert_eq!(repaired(Wire::Anthropic, &said(signed)), anthropic(&format!("{ASK},{ASK}")));
}

#[test]
fn anthropic_marks_are_four_and_the_newest_stay() {
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    let user = |mark: &str| format!(r#"{{"role":"user","content":[{{"type":"text","text":"x"{mark}}}]}}"#);
    let body = |marks: [&str; 4]| {
        let system =
            format!(r#""system":[{{"type":"text","text":"s"{mark}}}],"tools":[{{"name":"f"{mark}}}]"#);
        anthropic(&marks.map(user).join(",")).replacen('{', &format!("{{{system},"), 1)
    };
    let two_too_many = body([mark; 4]);
    assert_eq!(found(Wire::Anthropic, &two_too_many).len(), 2);
    assert_eq!(repaired(Wire::Anthropic, &two_too_many), body(["", "", mark, mark]));
    assert!(found(Wire::Anthropic, &body(["", "", mark, mark])).is_empty());
    let own = body(["", "", mark, mark]).replacen('{', r#"{"cache_control":{"type":"ephemeral"},"#, 1);
    assert_eq!(found(Wire::Anthropic, &own), ["cache-mark $.messages[2].content[0].cache_control"]);
}

#[test]
fn anthropic_odds_and_ends() {
    let body = anthropic(&format!("{ASK},{CALL},{RESULT}"));
    let wrong_input = body.replace("\"input\":{}", r#""input":"{\"p\": 1}""#);
    assert_eq!(found(Wire::Anthropic, &wrong_input), ["wrong-type $.messages[1].content[0]"]);
    assert_eq!(repaired(Wire::Anthropic, &wrong_input), body.replace("\"input\":{}", r#""input":{"p": 1}"#));
    let half = body.replace("\"x\"", r#""x\ud83d""#);
    assert_eq!(found(Wire::Anthropic, &half), ["lone-surrogate $"]);
    assert_eq!(repaired(Wire::Anthropic, &half), body.replace("\"x\"", r#""x\ufffd""#));
    let named = body.replace("\"name\":\"f\"", "\"name\":\"f.g\"");
    assert_eq!(repaired(Wire::Anthropic, &named), body.replace("\"name\":\"f\"", "\"name\":\"f_g\""));
    let role = body.replacen("\"user\"", "\"human\"", 1);
    assert_eq!(found(Wire::Anthropic, &role), ["unknown-role $.messages[0].role"]);
    assert_eq!(repaired(Wire::Anthropic, &role), body);
    let silent = body.replace(r#""content":"x""#, r#""content":"","is_error":true"#);
    assert_eq!(found(Wire::Anthropic, &silent), ["empty-content $.messages[2].content[0]"]);
    repaired(Wire::Anthropic, &silent);
}

#[test]
fn large_images_become_text() {
    let data = "A".repeat(5 * 1024 * 1024 + 1);
    let image = format!(r#"{{"type":"image","source":{{"type":"base64","data":"{data}"}}}}"#);
    let body = anthropic(&format!(r#"{{"role":"user","content":[{image}]}}"#));
    assert_eq!(found(Wire::Anthropic, &body), ["media-limit $.messages[0].content[0]"]);
    assert!(repaired(Wire::Anthropic, &body).len() < 200);
    assert!(found(Wire::Anthropic, &body.replacen("AA", "A", 1)).is_empty());
}

const ASSISTANT: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;

fn tool(id: &str) -> String {
    format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"r{id}"}}"#)
}

#[test]
fn chat_results_follow_their_calls() {
    let (a, b) = (tool("a"), tool("b"));
    let whole = chat(&format!("{ASK}, {ASSISTANT}, {a}, {b}, {ASK}"));
    assert!(found(Wire::OpenAiChat, &whole).is_empty());
    let parted = chat(&format!("{ASK}, {ASSISTANT}, {a}, {ASK}, {b}"));
    assert_eq!(found(Wire::OpenAiChat, &parted), ["misplaced-result $.messages[4]"]);
    assert_eq!(repaired(Wire::OpenAiChat, &parted), whole);
    let missing = chat(&format!("{ASK}, {ASSISTANT}, {b}, {ASK}"));
    assert_eq!(found(Wire::OpenAiChat, &missing), ["call-without-result $.messages[1].tool_calls[0]"]);
    let told = tool("a").replace("ra", NO_RESULT);
    let expected = chat(&format!("{ASK}, {ASSISTANT}, {b}, {told}, {ASK}"));
    assert_eq!(repaired(Wire::OpenAiChat, &missing), expected);
    let twice = chat(&format!("{ASK}, {ASSISTANT}, {a}, {a}, {b}, {ASK}"));
    assert_eq!(found(Wire::OpenAiChat, &twice), ["duplicate-result $.messages[3]"]);
    assert_eq!(repaired(Wire::OpenAiChat, &twice), whole);
    let stray = tool("x");
    let orphan = chat(&format!("{ASK}, {ASSISTANT}, {a}, {stray}, {b}"));
    assert_eq!(found(Wire::OpenAiChat, &orphan), ["orphaned-result $.messages[3]"]);
    let said = r#"{"role":"user","content":"rx"}"#;
    assert_eq!(repaired(Wire::OpenAiChat, &orphan), chat(&format!("{ASK}, {ASSISTANT}, {a}, {b}, {said}")));
    // The same ids may be used again.
    let round = format!("{ASSISTANT},{a},{b}");
    assert!(found(Wire::OpenAiChat, &chat(&format!("{ASK},{round},{round}"))).is_empty());
}

#[test]
fn chat_messages_have_the_right_shape() {
    let call = ASSISTANT.replace(r#""arguments":"{}""#, r#""arguments":{"a": 1}"#);
    let body = chat(&format!("{ASK},{call},{},{}", tool("a"), tool("b")));
    assert_eq!(found(Wire::OpenAiChat, &body).len(), 2);
    let expected = body.replace(r#""arguments":{"a": 1}"#, r#""arguments":"{\"a\": 1}""#);
    assert_eq!(repaired(Wire::OpenAiChat, &body), expected);
    let silent = chat(&format!(r#"{ASK},{{"role":"assistant","content":null,"tool_calls":[]}},{ASK}"#));
    assert_eq!(
        found(Wire::OpenAiChat, &silent),
        ["empty-content $.messages[1].tool_calls", "empty-content $.messages[1]"]
    );
    let expected = chat(&format!(r#"{ASK},{{"role":"assistant","content":"{NO_CONTENT}"}},{ASK}"#));
    assert_eq!(repaired(Wire::OpenAiChat, &silent), expected);
    assert!(found(Wire::OpenAiChat, &chat(r#"{"role":"user","content":""}"#)).is_empty());
    let long = "c".repeat(41);
    let (assistant, results) = (ASSISTANT.replace("\"a\"", &format!("\"{long}\"")), [tool(&long), tool("b")]);
    let body = chat(&format!("{ASK},{assistant},{}", results.join(",")));
    assert_eq!(found(Wire::OpenAiChat, &body), ["invalid-id $.messages[1].tool_calls[0]"]);
    assert!(!repaired(Wire::OpenAiChat, &body).contains(&format!("\"{long}\"")));
}

const MADE: &str = r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#;
const OUTPUT: &str = r#"{"type":"function_call_output","call_id":"a","output":"x"}"#;

#[test]
fn responses_exchanges_are_whole_unless_half_is_elsewhere() {
    let whole = responses(&format!("{ASK},{MADE},{OUTPUT}"));
    assert!(found(Wire::OpenAiResponses, &whole).is_empty());
    let call = responses(&format!("{ASK},{MADE},{ASK}"));
    assert_eq!(found(Wire::OpenAiResponses, &call), ["call-without-result $.input[1]"]);
    let told = OUTPUT.replace("\"x\"", &crate::json::encode(NO_RESULT));
    assert_eq!(repaired(Wire::OpenAiResponses, &call), responses(&format!("{ASK},{MADE},{told},{ASK}")));
    let output = responses(&format!("{ASK},{OUTPUT}"));
    assert_eq!(found(Wire::OpenAiResponses, &output), ["orphaned-result $.input[1]"]);
    let said = r#"{"role":"user","content":"x"}"#;
    assert_eq!(repaired(Wire::OpenAiResponses, &output), responses(&format!("{ASK},{said}")));
    let elsewhere = output.replacen('{', r#"{"previous_response_id":"r","#, 1);
    assert!(found(Wire::OpenAiResponses, &elsewhere).is_empty());
    let referred = responses(&format!(r#"{ASK},{{"type":"item_reference","id":"fc_1"}},{OUTPUT}"#));
    assert!(found(Wire::OpenAiResponses, &referred).is_empty());
    assert!(found(Wire::OpenAiResponses, r#"{"model":"m","input":"hi"}"#).is_empty());
}

#[test]
fn responses_items_are_in_order() {
    let reasoning = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#;
    let detached = responses(&format!("{ASK},{reasoning},{ASK}"));
    assert_eq!(found(Wire::OpenAiResponses, &detached), ["detached-thinking $.input[1]"]);
    assert_eq!(repaired(Wire::OpenAiResponses, &detached), responses(&format!("{ASK},{ASK}")));
    assert!(found(Wire::OpenAiResponses, &responses(&format!("{reasoning},{MADE},{OUTPUT}"))).is_empty());
    let own = detached.replacen('{', r#"{"store":false,"#, 1);
    assert!(found(Wire::OpenAiResponses, &own).is_empty());
    let said =
        r#"{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"x"}]}"#;
    let twice = responses(&format!("{ASK},{said},{said}"));
    assert_eq!(found(Wire::OpenAiResponses, &twice), ["duplicate-item $.input[2]"]);
    assert_eq!(repaired(Wire::OpenAiResponses, &twice), responses(&format!("{ASK},{said}")));
    let typed = responses(&format!("{ASK},{}", said.replace("output_text", "input_text")));
    assert_eq!(found(Wire::OpenAiResponses, &typed), ["wrong-type $.input[1].content[0].type"]);
    assert_eq!(repaired(Wire::OpenAiResponses, &typed), responses(&format!("{ASK},{said}")));
    let named = responses(&format!("{ASK},{}", said.replace("msg_1", "x1")));
    assert_eq!(found(Wire::OpenAiResponses, &named), ["invalid-id $.input[1].id"]);
    let expected = responses(&format!("{ASK},{}", said.replace(r#""id":"msg_1","#, "")));
    assert_eq!(repaired(Wire::OpenAiResponses, &named), expected);
}

const USER: &str = r#"{"role":"user","parts":[{"text":"go"}]}"#;
const MODEL: &str = r#"{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}]}"#;

fn answers(names: &[&str]) -> String {
    let part =
        |name: &&str| format!(r#"{{"functionResponse":{{"name":"{name}","response":{{"output":"x"}}}}}}"#);
    let parts: Vec<String> = names.iter().map(part).collect();
    format!(r#"{{"role":"user","parts":[{}]}}"#, parts.join(","))
}

#[test]
fn gemini_results_are_as_many_as_calls() {
    let both = answers(&["f", "g"]);
    assert!(found(Wire::Gemini, &gemini(&format!("{USER},{MODEL},{both}"))).is_empty());
    // At the end the results may still be on their way.
    assert!(found(Wire::Gemini, &gemini(&format!("{USER},{MODEL}"))).is_empty());
    let short = gemini(&format!("{USER},{MODEL},{}", answers(&["g"])));
    assert_eq!(found(Wire::Gemini, &short), ["call-without-result $.contents[1].parts[0]"]);
    let told = format!(r#"{{"functionResponse":{{"name":"f","response":{{"error":"{NO_RESULT}"}}}}}},"#);
    let expected = short.replace(r#"{"functionResponse""#, &format!(r#"{told}{{"functionResponse""#));
    assert_eq!(repaired(Wire::Gemini, &short), expected);
    let orphan = gemini(&format!("{USER},{}", answers(&["f"])));
    assert_eq!(found(Wire::Gemini, &orphan), ["orphaned-result $.contents[1].parts[0]"]);
    assert!(repaired(Wire::Gemini, &orphan).contains(r#"{"text":"{\"functionResponse\""#));
    let split = gemini(&format!("{USER},{MODEL},{},{}", answers(&["f"]), answers(&["g"])));
    assert_eq!(found(Wire::Gemini, &split), ["misplaced-result $.contents[3].parts[0]"]);
    repaired(Wire::Gemini, &split);
}

#[test]
fn gemini_calls_follow_a_user() {
    let first = gemini(&format!("{MODEL},{}", answers(&["f", "g"])));
    assert_eq!(found(Wire::Gemini, &first), ["role-order $.contents[0]"]);
    assert!(repaired(Wire::Gemini, &first).contains(NO_START));
    let said = r#"{"role":"model","parts":[{"text":"x"}]}"#;
    let behind = gemini(&format!("{USER},{said},{MODEL},{}", answers(&["f", "g"])));
    assert_eq!(found(Wire::Gemini, &behind), ["role-order $.contents[2]"]);
    let joined = MODEL.replace(r#""parts":["#, r#""parts":[{"text":"x"},"#);
    let expected = gemini(&format!("{USER},{joined},{}", answers(&["f", "g"])));
    assert_eq!(repaired(Wire::Gemini, &behind), expected);
    let empty = gemini(&format!(
        r#"{USER},{{"role":"model","parts":[]}},{{"role":"assistant","parts":[{{}}]}},{USER}"#
    ));
    assert_eq!(
        found(Wire::Gemini, &empty),
        [
            "empty-content $.contents[1]",
            "unknown-role $.contents[2].role",
            "empty-content $.contents[2].parts[0]"
        ]
    );
    repaired(Wire::Gemini, &empty);
}

#[test]
fn a_request_ends_with_something_to_answer() {
    let anthropic = |model: &str, content: &str| {
        let asked = r#"{"role":"user","content":"go"}"#;
        let body = format!(
            r#"{{"model":"{model}","messages":[{asked},{{"role":"assistant","content":{content}}}]}}"#
        );
        found(Wire::Anthropic, &body)
    };
    let finding = "nothing-to-answer $.messages[1]";
    assert_eq!(anthropic("claude-opus-4-6", "\"{\""), [finding]);
    assert_eq!(anthropic("claude-sonnet-5", r#"[{"type":"text","text":"{"}]"#), [finding]);
    assert!(anthropic("claude-sonnet-4-5", "\"{\"").is_empty());
    let paused = r#"[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}]"#;
    assert!(!anthropic("claude-opus-4-6", paused).contains(&finding.to_owned()));

    let chat = |member: &str, last: &str| {
        let body = format!(
            r#"{{"model":"m"{member},"messages":[{{"role":"user","content":"go"}},{{"role":"assistant"{last}}}]}}"#
        );
        found(Wire::OpenAiChat, &body)
    };
    assert_eq!(chat("", r#","content":"ok""#), [finding]);
    assert!(chat("", r#","content":"ok","prefix":true"#).is_empty());
    assert!(chat(r#","continue_final_message":true"#, r#","content":"ok""#).is_empty());

    let gemini =
        r#"{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"text":"ok"}]}]}"#;
    assert_eq!(found(Wire::Gemini, gemini), ["nothing-to-answer $.contents[1]"]);

    assert_eq!(found(Wire::OpenAiResponses, r#"{"model":"m","input":[]}"#), ["nothing-to-answer $.input"]);
    let later = r#"{"model":"m","previous_response_id":"r","input":[]}"#;
    assert!(found(Wire::OpenAiResponses, later).is_empty());
}
