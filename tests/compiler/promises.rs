//! What programs promise falsely, and how a promise that is checked fails.

use tilec::compile::{Options, to_ptx};
use tilec::target::Target;

const TARGETS: [&str; 4] = ["sm_75", "sm_80", "sm_90a", "sm_120a"];

/// Compiles a text module; the launch has the given buffers (bytes) and 32-bit scalars after them.
fn simulate(
    text: &str,
    target: &str,
    buffers: &[Vec<u8>],
    scalars: &[i32],
) -> (Result<(), String>, String, Vec<Vec<u8>>) {
    let module = tilec::asm::parse(text).unwrap_or_else(|e| panic!("{e:?}"));
    let target: Target = target.parse().unwrap_or_else(|e| panic!("{e:?}"));
    let kernel = to_ptx(module, &Options::new(target)).unwrap_or_else(|e| panic!("{e:?}"));
    let entry = &kernel.manifest.entries[0];
    let ptx = ptxsim::Module::new(kernel.ptx).expect("PTX");
    let program = ptx.entry(Some(&entry.name)).expect("the entry");
    let mut launch = ptxsim::Launch::new(&program);
    launch.block = entry.block;
    launch.dynamic_shared = entry.shared_bytes;
    for (i, bytes) in buffers.iter().enumerate() {
        launch.buffers.push(ptxsim::Buffer {
            name: format!("argument {i}"),
            bytes: bytes.clone(),
        });
        launch.args.push(ptxsim::Arg::buffer(i));
    }
    for scalar in scalars {
        launch.args.push(ptxsim::Arg::scalar(scalar.to_le_bytes()));
    }
    let result = launch.run().map(|_| ()).map_err(|e| e.to_string());
    let bytes = launch.buffers.iter().map(|b| b.bytes.clone()).collect();
    (result, launch.printed.clone(), bytes)
}

/// The lines are those of tileiras 13.5.37: the formats of the `vprintf` calls in its PTX.
#[test]
fn a_failed_assertion_says_which_element_and_stops() {
    let text = r#"
entry @k(%n: tile<i32>) {
  %flat = iota : tile<128xi32>
  %numbers = reshape %flat : tile<128xi32> -> tile<8x16xi32>
  %one = reshape %n : tile<i32> -> tile<1x1xi32>
  %all = broadcast %one : tile<1x1xi32> -> tile<8x16xi32>
  %above = cmpi greater_than %all, %numbers, signed : tile<8x16xi32> -> tile<8x16xi1>
  assert %above, "two" : tile<8x16xi1>
  return
}"#;
    let scalar = r#"
entry @k(%n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %positive = cmpi greater_than %n, %zero, signed : tile<i32> -> tile<i1>
  assert %positive, "100% positive" : tile<i1>
  return
}"#;
    for target in TARGETS {
        let (result, printed, _) = simulate(text, target, &[], &[126]);
        assert!(result.is_err_and(|e| e.contains("trap")), "{target}");
        let mut lines: Vec<&str> = printed.lines().collect();
        lines.sort();
        // Which of two threads comes first, and whether the other comes at all, is open.
        assert!(!lines.is_empty() && lines.len() <= 2, "{target}: {lines:?}");
        for line in lines {
            let known = [14, 15]
                .map(|i| format!("(unknown):0: tile block: [0, 0, 0], position: [7, {i}]: two"));
            assert!(known.contains(&line.to_owned()), "{target}: {line}");
        }
        let (result, printed, _) = simulate(scalar, target, &[], &[0]);
        assert!(result.is_err(), "{target}");
        let line = "(unknown):0: tile block: [0, 0, 0], position: []: 100% positive";
        let often = printed.lines().filter(|l| *l == line).count();
        assert_eq!(often, 1, "{target}: one thread says it");
        let (result, printed, _) = simulate(text, target, &[], &[128]);
        assert_eq!((result, printed.as_str()), (Ok(()), ""), "{target}");
    }
}

/// cuTile Python promises that the stride 1 of a dimension of extent 1 is divisible. Accesses must not be
/// as wide as that would allow, and the interpreter must not stop.
#[test]
fn a_false_promise_about_a_constant_is_not_believed() {
    let text = r#"
entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
  %base = assume div_by<16>, %x : tile<ptr<f32>>
  %one = constant <i32: 1> : tile<i32>
  %four = assume div_by<4>, %one : tile<i32>
  %same = assume bounded<0, ?>, %four : tile<i32>
  %more = assume div_by<8>, %same : tile<i32>
  %second = offset %base, %more : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %numbers = iota : tile<512xi32>
  %1 = reshape %second : tile<ptr<f32>> -> tile<1xptr<f32>>
  %2 = broadcast %1 : tile<1xptr<f32>> -> tile<512xptr<f32>>
  %3 = offset %2, %numbers : tile<512xptr<f32>>, tile<512xi32> -> tile<512xptr<f32>>
  %value, %t0 = load_ptr_tko weak %3 : tile<512xptr<f32>> -> tile<512xf32>, token
  %4 = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
  %5 = broadcast %4 : tile<1xptr<f32>> -> tile<512xptr<f32>>
  %6 = offset %5, %numbers : tile<512xptr<f32>>, tile<512xi32> -> tile<512xptr<f32>>
  %t1 = store_ptr_tko weak %6, %value : tile<512xptr<f32>>, tile<512xf32> -> token
  return
}"#;
    let x: Vec<u8> = (0..513u32).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let right = &x[4..];
    for target in TARGETS {
        let (result, _, buffers) = simulate(text, target, &[x.clone(), vec![0; 512 * 4]], &[]);
        assert_eq!(result, Ok(()), "{target}");
        assert_eq!(buffers[1], right, "{target}");
    }
    assert_eq!(interpret(text, [x.clone(), vec![0; 512 * 4]]), right);
}

/// What the interpreter leaves in the second of two buffers.
fn interpret(text: &str, buffers: [Vec<u8>; 2]) -> Vec<u8> {
    use tilec::eval::{Argument, Hooks, Launch, Memory, Program};
    let module = tilec::asm::parse(text).unwrap_or_else(|e| panic!("{e:?}"));
    let mut memory = Memory::default();
    let addresses = buffers.map(|bytes| memory.add("buffer", &bytes).expect("room"));
    let program = Program::new(&module, None, &mut memory).unwrap_or_else(|e| panic!("{e}"));
    let launch = Launch {
        grid: [1, 1, 1],
        arguments: addresses.map(Argument::Pointer).to_vec(),
    };
    let hooks = Hooks {
        output: &mut Vec::new(),
        progress: &|_| (),
        steps: 10_000,
    };
    let result = program.run(&launch, &memory, hooks);
    assert!(result.is_ok(), "{result:?}");
    memory.bytes(addresses[1]).expect("a buffer")
}
