//! Turns the bytes from a client into a message, or into an error that says what is wrong. Every request gets an
//! answer, with the request's id if it has one.

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use serde_json::Value;

/// The maximum length of a message, in bytes.
pub(crate) const LONGEST_MESSAGE: usize = 4 * 1024 * 1024;
const LONGEST_REASON: usize = 300;

pub(crate) enum Incoming {
    Message(Box<ClientJsonRpcMessage>),
    Refused(Box<ServerJsonRpcMessage>),
    /// An unknown notification, which needs no answer.
    Ignored,
}

pub(crate) fn read(bytes: &[u8]) -> Incoming {
    match normalised(bytes) {
        Ok(value) => message(value),
        Err(refused) => Incoming::Refused(refused),
    }
}

/// The message in these bytes. Arguments that are a string of JSON are parsed.
pub(crate) fn normalised(bytes: &[u8]) -> Result<Value, Box<ServerJsonRpcMessage>> {
    let mut value: Value = serde_json::from_slice(bytes).map_err(|error| {
        refusal(ErrorData::parse_error(format!("the message is not JSON: {}", short(&error)), None), None)
    })?;
    let id = id_of(&value);
    if !value.is_object() {
        let message = "a message must be one JSON object; batches are not supported";
        return Err(refusal(ErrorData::invalid_request(message, None), None));
    }
    if value["method"] == "tools/call" {
        if value["params"]["name"].as_str().is_none() {
            return Err(refusal(
                ErrorData::invalid_params("params.name must be the name of a tool", None),
                id,
            ));
        }
        let arguments = &mut value["params"]["arguments"];
        if let Some(text) = arguments.as_str() {
            *arguments = serde_json::from_str(text).unwrap_or(Value::Bool(false));
        }
        if !arguments.is_object() && !arguments.is_null() {
            let message = "params.arguments must be an object, or a string that contains one as JSON";
            return Err(refusal(ErrorData::invalid_params(message, None), id));
        }
    }
    Ok(value)
}

pub(crate) fn too_long() -> Box<ServerJsonRpcMessage> {
    let message = format!("the message is longer than {LONGEST_MESSAGE} bytes, and was refused");
    refusal(ErrorData::invalid_request(message, None), None)
}

pub(crate) fn refusal(error: ErrorData, id: Option<RequestId>) -> Box<ServerJsonRpcMessage> {
    Box::new(ServerJsonRpcMessage::error(error, id))
}

fn message(value: Value) -> Incoming {
    let id = id_of(&value);
    let method = value["method"].as_str().map(ToOwned::to_owned);
    let is_stateless = is_stateless(&value);
    match serde_json::from_value::<ClientJsonRpcMessage>(value) {
        Ok(message) => match misfit(&message, is_stateless) {
            Some(error) => Incoming::Refused(refusal(error, id)),
            None => Incoming::Message(Box::new(message)),
        },
        Err(_) if id.is_none() && method.is_some() => Incoming::Ignored,
        Err(error) => {
            let message = format!("the message does not follow JSON-RPC 2.0: {}", short(&error));
            Incoming::Refused(refusal(ErrorData::invalid_request(message, None), id))
        }
    }
}

/// The error for a request of a known method with invalid parameters. The protocol library reads such a request as one
/// of an unknown method.
fn misfit(message: &ClientJsonRpcMessage, is_stateless: bool) -> Option<ErrorData> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CustomRequest(custom) = &request.request else { return None };
    let method = &custom.method;
    is_known(method, is_stateless)
        .then(|| ErrorData::invalid_params(format!("the params of {method} have the wrong types"), None))
}

/// True if this server supports the method in the protocol version of the message.
fn is_known(method: &str, is_stateless: bool) -> bool {
    const ALWAYS: [&str; 7] = [
        "server/discover",
        "tools/call",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "subscriptions/listen",
    ];
    const BEFORE: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];
    ALWAYS.contains(&method) || (!is_stateless && BEFORE.contains(&method))
}

/// True for a message of the newer protocol, because such a message contains its version.
fn is_stateless(value: &Value) -> bool {
    value["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string()
}

fn id_of(value: &Value) -> Option<RequestId> {
    serde_json::from_value(value.get("id")?.clone()).ok()
}

fn short(error: &serde_json::Error) -> String {
    engine::words::one_line(&error.to_string(), LONGEST_REASON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(bytes: &[u8]) -> Value {
        match read(bytes) {
            Incoming::Refused(message) => serde_json::to_value(message).expect("JSON"),
            Incoming::Message(_) | Incoming::Ignored => {
                panic!("was taken: {:?}", String::from_utf8_lossy(bytes))
            }
        }
    }

    #[test]
    fn whatever_comes_in_is_answered_under_its_id() {
        let cases: [(&[u8], i64, Value); 9] = [
            (b"hello", -32700, Value::Null),
            (b"{\"jsonrpc\":", -32700, Value::Null),
            (b"\xff\xfe", -32700, Value::Null),
            (b"[]", -32600, Value::Null),
            (b"{\"id\":7}", -32600, json!(7)),
            (b"{\"id\":7,\"method\":\"tools/list\"}", -32600, json!(7)),
            (br#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":7}}"#, -32602, json!("a")),
            (
                br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":[1]}}"#,
                -32602,
                json!(1),
            ),
            (br#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":7}}"#, -32602, json!(1)),
        ];
        for (bytes, code, id) in cases {
            let answer = refused(bytes);
            assert_eq!(answer["error"]["code"], code, "{answer}");
            assert_eq!(answer.get("id").cloned().unwrap_or_default(), id, "{answer}");
        }
        let nested = "[".repeat(100_000);
        assert_eq!(refused(nested.as_bytes())["error"]["code"], -32700);
    }

    #[test]
    fn arguments_may_be_text() {
        let text = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":"{\"a\":1}"}}"#;
        assert_eq!(normalised(text).expect("taken")["params"]["arguments"], json!({"a": 1}));
    }

    #[test]
    fn a_notification_that_nobody_knows_is_not_answered() {
        assert!(!matches!(
            read(br#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}"#),
            Incoming::Refused(_)
        ));
        assert!(matches!(read(br#"{"method":"x"}"#), Incoming::Ignored));
    }
}
