//! Converts the Markdown of a brief to HTML: headings, lists, paragraphs and code. A brief contains nothing else. All
//! text is escaped.

use engine::words::without_steering;
use maud::{Markup, PreEscaped, html};

pub fn html(text: &str) -> Markup {
    let text = without_steering(text);
    let mut made = String::new();
    let mut is_list = false;
    for line in text.lines() {
        let item = line.trim_start().strip_prefix("- ");
        if item.is_none() && is_list {
            made.push_str("</ul>");
            is_list = false;
        }
        if item.is_some() && !is_list {
            made.push_str("<ul>");
            is_list = true;
        }
        made.push_str(&block(line, item).0);
    }
    if is_list {
        made.push_str("</ul>");
    }
    PreEscaped(made)
}

fn block(line: &str, item: Option<&str>) -> Markup {
    if let Some(item) = item {
        return html! { li { (inline(item)) } };
    }
    let heading = |mark: &str| line.strip_prefix(mark);
    if let Some(text) = heading("### ") {
        html! { h3 { (inline(text)) } }
    } else if let Some(text) = heading("## ") {
        html! { h2 { (inline(text)) } }
    } else if let Some(text) = heading("# ") {
        html! { h1 { (inline(text)) } }
    } else if line.trim().is_empty() {
        html! {}
    } else {
        html! { p { (inline(line)) } }
    }
}

/// The text of a line. Code between backticks and bold text become elements.
fn inline(text: &str) -> Markup {
    html! {
        @for (piece, place) in text.split('`').zip(0usize..) {
            @if place % 2 == 1 { code { (piece) } } @else {
                @for (part, place) in piece.split("**").zip(0usize..) {
                    @if place % 2 == 1 { strong { (part) } } @else { (part) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_brief_has_becomes_html_and_nothing_else_does() {
        let made = html("# A <b>\n\ntext `leftoff next` **bold**\n- one\n- two <script>\n\nend\u{202e}").0;
        assert_eq!(
            made,
            "<h1>A &lt;b&gt;</h1><p>text <code>leftoff next</code> <strong>bold</strong></p><ul><li>one</li>\
             <li>two &lt;script&gt;</li></ul><p>end\u{fffd}</p>"
        );
    }
}
