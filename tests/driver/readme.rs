//! The session in README.md works: each `$ tilec …` prints the lines shown (`…` stands for any lines).

use std::path::Path;
use std::process::Command;

/// The commands of the console blocks with what they are said to print.
fn session(readme: &str) -> Vec<(Vec<String>, Vec<String>)> {
    let mut commands: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ tilec ").filter(|_| inside) {
            commands.push((command.split(' ').map(str::to_owned).collect(), Vec::new()));
        } else if inside && let Some((_, output)) = commands.last_mut() {
            output.push(line.to_owned());
        }
    }
    commands
}

/// Whether `shown` is `printed` with any number of lines left out at each `…`.
fn matches(shown: &[String], printed: &[&str]) -> bool {
    match (shown, printed) {
        ([], rest) => rest.is_empty(),
        ([first, tail @ ..], _) if first == "…" => {
            (0..=printed.len()).any(|skip| matches(tail, &printed[skip..]))
        }
        ([first, tail @ ..], [line, rest @ ..]) => {
            first.trim_end() == line.trim_end() && matches(tail, rest)
        }
        _ => false,
    }
}

#[test]
fn the_session_in_the_readme_works() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).expect("README.md");
    let commands = session(&readme);
    assert!(commands.len() >= 3, "the README shows a session");
    for (arguments, shown) in commands {
        let output = Command::new(env!("CARGO_BIN_EXE_tilec"))
            .current_dir(root)
            .args(&arguments)
            .output()
            .expect("tilec runs");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let printed: Vec<&str> = text.lines().collect();
        assert!(
            matches(&shown, &printed),
            "tilec {arguments:?} printed\n{text}"
        );
    }
}
