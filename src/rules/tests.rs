use super::Examples;
use super::files::{self, Group};

#[test]
fn all_rule_files_are_read() {
    for group in Group::ALL {
        files::load(group, None, Examples::Kept).unwrap_or_else(|e| panic!("{e}"));
    }
}
