//! Invalid modules are refused with the words of the rule that they break.
//!
//! `tests/invalid/*.txt` holds one case per line: `body => message`. A body stands in an entry whose
//! parameters and first constants are those of [`PRELUDE`]; one that starts with `module:` stands by
//! itself. `;` separates lines. The message is part of the parser's or verifier's diagnostic.

use tilec::{asm, verify};

const PRELUDE: &str = "
entry @kernel(%p: tile<ptr<f32>>, %pi: tile<ptr<i32>>, %n: tile<i32>, %l: tile<i64>, %x: tile<f32>, %b: tile<i1>) {
  %c0 = constant <i32: 0> : tile<i32>
  %f = constant <f32: 1.0> : tile<8x4xf32>
  %h = constant <f16: 1.0> : tile<8x4xf16>
  %d = constant <f64: 1.0> : tile<8x4xf64>
  %i = constant <i32: 1> : tile<8x4xi32>
  %j = constant <i64: 1> : tile<8x4xi64>
  %k = constant <i8: 1> : tile<8x4xi8>
  %m = constant <i1: true> : tile<8x4xi1>
  %v = constant <f32: 1.0> : tile<8xf32>
  %q = constant <f32: 1.0> : tile<4x8xf32>
  %w = constant <i32: 1> : tile<8xi32>
  %t = make_token : token
  %pr = reshape %p : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %pt = broadcast %pr : tile<1x1xptr<f32>> -> tile<8x4xptr<f32>>
  %pir = reshape %pi : tile<ptr<i32>> -> tile<1x1xptr<i32>>
  %pit = broadcast %pir : tile<1x1xptr<i32>> -> tile<8x4xptr<i32>>
  %tv = make_tensor_view %p, shape = [%n, 32], strides = [%n, 1] : tile<i32> -> tensor_view<?x32xf32, strides=[?,1]>
  %pv = make_partition_view %tv : partition_view<tile=(8x4), tensor_view<?x32xf32, strides=[?,1]>>
  %gv = make_gather_scatter_view %tv : gather_scatter_view<tile=(8x4), tensor_view<?x32xf32, strides=[?,1]>, sparse_dim=0>
";

fn module_text(body: &str) -> String {
    match body.strip_prefix("module:") {
        Some(module) => module.replace(';', "\n"),
        None => format!("{PRELUDE}{}\n  return\n}}\n", body.replace(';', "\n")),
    }
}

fn diagnose(text: &str) -> String {
    match asm::parse(text) {
        Err(error) => error.to_string(),
        Ok(module) => match verify::verify(&module) {
            Err(errors) => errors.to_string(),
            Ok(()) => "no error".into(),
        },
    }
}

#[test]
fn the_prelude_is_valid() {
    assert_eq!(diagnose(&module_text("")), "no error");
}

#[test]
fn each_rule_has_its_diagnostic() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/invalid");
    let (mut cases, mut wrong) = (0, Vec::new());
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let Some((body, message)) = line.split_once(" => ") else {
                continue;
            };
            cases += 1;
            let got = diagnose(&module_text(body));
            if !got.contains(message.trim()) {
                let name = path.file_name().unwrap().to_string_lossy();
                wrong.push(format!(
                    "{name}:{}: {body}\n  want: {message}\n  got:  {got}",
                    number + 1
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {cases} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(cases >= 200, "{cases} cases");
}
