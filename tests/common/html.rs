//! A reader of well-formed HTML: enough to check the pages that tilec writes.

#![allow(dead_code)] // No single test file uses everything.

use std::collections::BTreeMap;

/// An element with its text and what is in it.
#[derive(Default, Debug)]
pub struct Element {
    pub name: String,
    pub attributes: BTreeMap<String, String>,
    /// The text directly in it.
    pub text: String,
    pub children: Vec<Element>,
}

/// Elements that have no end (HTML, "Void elements").
const VOID: [&str; 5] = ["meta", "link", "br", "img", "input"];

impl Element {
    /// The document; panics where elements are not nested.
    pub fn parse(text: &str) -> Element {
        let mut rest = text.strip_prefix("<!doctype html>").expect("a doctype");
        let mut open = vec![Element::default()];
        while let Some(at) = rest.find('<') {
            open.last_mut().unwrap().text += &unescape(&rest[..at]);
            rest = &rest[at + 1..];
            let end = tag_end(rest);
            let (tag, behind) = (&rest[..end], &rest[end + 1..]);
            rest = behind;
            if let Some(name) = tag.strip_prefix('/') {
                let element = open.pop().unwrap();
                assert_eq!(element.name, name, "an end tag of another element");
                open.last_mut().unwrap().children.push(element);
                continue;
            }
            let closed = tag.ends_with('/');
            let mut element = start(tag.trim_end_matches('/'));
            if element.name == "script" || element.name == "style" {
                let close = format!("</{}>", element.name);
                let end = rest.find(&close).expect("its end");
                element.text = rest[..end].to_owned();
                rest = &rest[end + close.len()..];
                open.last_mut().unwrap().children.push(element);
            } else if closed || VOID.contains(&element.name.as_str()) {
                open.last_mut().unwrap().children.push(element);
            } else {
                open.push(element);
            }
        }
        assert_eq!(open.len(), 1, "not closed: {}", open.last().unwrap().name);
        open.pop().unwrap()
    }

    /// All elements below this one, in order.
    pub fn all(&self) -> Vec<&Element> {
        let below = self.children.iter();
        below
            .flat_map(|c| std::iter::once(c).chain(c.all()))
            .collect()
    }

    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    /// The element with an id.
    pub fn by_id(&self, id: &str) -> Option<&Element> {
        let mut all = self.all().into_iter();
        all.find(|e| e.attribute("id") == Some(id))
    }

    /// Elements of one name.
    pub fn named(&self, name: &str) -> Vec<&Element> {
        self.all().into_iter().filter(|e| e.name == name).collect()
    }

    /// All text in it.
    pub fn whole_text(&self) -> String {
        let below = self.children.iter().map(Element::whole_text);
        below.fold(self.text.clone(), |text, more| text + &more)
    }
}

/// Where a tag ends: at the first `>` outside of quotes.
fn tag_end(text: &str) -> usize {
    let mut quoted = false;
    for (i, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return i,
            _ => {}
        }
    }
    panic!("a tag without an end");
}

fn start(tag: &str) -> Element {
    let (name, mut rest) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    let mut element = Element {
        name: name.to_owned(),
        ..Element::default()
    };
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return element;
        }
        let end = rest
            .find(|c: char| c == '=' || c.is_whitespace())
            .unwrap_or(rest.len());
        let key = rest[..end].to_owned();
        rest = &rest[end..];
        let mut value = String::new();
        if let Some(quoted) = rest.strip_prefix("=\"") {
            let close = quoted.find('"').expect("the end of a value");
            value = unescape(&quoted[..close]);
            rest = &quoted[close + 1..];
        }
        let before = element.attributes.insert(key.clone(), value);
        assert!(before.is_none(), "{key} twice in <{tag}>");
    }
}

fn unescape(text: &str) -> String {
    let mut plain = text.to_owned();
    for (entity, c) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
    ] {
        plain = plain.replace(entity, c);
    }
    plain.replace("&amp;", "&")
}
