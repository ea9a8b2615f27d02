//! Graphs: work with its order, made once and launched often.

use crate::context::Context;
use crate::handles::{Handle, Handles, fresh};
use crate::memory::{self, Block, Kind};
use crate::status::{Result, Status};
use crate::work::{Program, Waiting, Work};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// `CUgraphNodeType`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum NodeKind {
    Kernel = 0,
    Copy = 1,
    Fill = 2,
    Host = 3,
    Graph = 4,
    Empty = 5,
    Await = 6,
    Record = 7,
    Allocate = 10,
    Free = 11,
    MemoryOperation = 12,
}

impl NodeKind {
    /// The kind of node that a piece of work makes.
    pub fn of(work: &Work) -> NodeKind {
        match work {
            Work::Empty => NodeKind::Empty,
            Work::Free(_) => NodeKind::Free,
            Work::Launch(_) => NodeKind::Kernel,
            Work::Copy(..) | Work::CopyRows(..) => NodeKind::Copy,
            Work::Fill(..) => NodeKind::Fill,
            Work::Record(_) => NodeKind::Record,
            Work::Await(_) => NodeKind::Await,
            Work::AwaitValue(_) | Work::Write(..) => NodeKind::MemoryOperation,
            Work::Host(_) | Work::Callback(_) => NodeKind::Host,
            Work::Graph(_) => NodeKind::Graph,
        }
    }
}

/// A node of a graph.
#[derive(Clone)]
pub struct Node {
    /// its handle
    pub handle: Handle,
    /// what it is
    pub kind: NodeKind,
    /// what it does
    pub work: Work,
    /// the nodes that it follows
    pub follows: Vec<Handle>,
    /// memory that it allocates
    pub memory: Option<Arc<GraphMemory>>,
}

/// What a node allocates: there from the time the node is made, at one address. It goes with the last graph that has the
/// node, unless a launch has left it to the program.
pub struct GraphMemory {
    block: Arc<Block>,
    /// a node of the same graph frees it
    freed: AtomicBool,
    /// a launch was over without freeing it: it is the program's, for `cuMemFree`
    left: AtomicBool,
}

impl GraphMemory {
    /// What a node allocates.
    pub fn new(block: Arc<Block>) -> Arc<GraphMemory> {
        Arc::new(GraphMemory {
            block,
            freed: AtomicBool::new(false),
            left: AtomicBool::new(false),
        })
    }
}

impl Drop for GraphMemory {
    fn drop(&mut self) {
        if !self.left.load(Ordering::Relaxed) {
            // The program may have freed it.
            let _ = memory::release(self.block.base, &[Kind::Device], Status::INVALID_VALUE);
        }
    }
}

/// A graph.
pub struct Graph {
    /// its handle
    pub handle: Handle,
    nodes: Mutex<Vec<Node>>,
}

/// A graph ready to be launched: its work in an order that respects all edges.
pub struct Executable {
    /// its handle
    pub handle: Handle,
    work: Mutex<Vec<(Handle, Work)>>,
    /// what its nodes allocate
    memory: Vec<Arc<GraphMemory>>,
}

/// A stream's work being recorded.
pub struct Capture {
    /// its number
    pub id: Handle,
    /// where the nodes go
    pub graph: Arc<Graph>,
    /// the stream that it began with
    pub origin: Handle,
}

impl Capture {
    /// A new capture.
    pub fn new(graph: Arc<Graph>, origin: Handle) -> Capture {
        Capture {
            id: fresh(),
            graph,
            origin,
        }
    }
}

/// All graphs.
pub static GRAPHS: Handles<Graph> = Handles::new();
/// All executable graphs.
pub static EXECUTABLES: Handles<Executable> = Handles::new();

/// The graph that a node is in.
pub fn of_node(node: Handle) -> Result<Arc<Graph>> {
    let has = |g: &Arc<Graph>| g.nodes().iter().any(|n| n.handle == node);
    let found = GRAPHS.all().into_iter().find(has);
    found.ok_or(Status::INVALID_HANDLE)
}

impl Graph {
    /// An empty graph.
    pub fn create() -> Arc<Graph> {
        let graph = Arc::new(Graph {
            handle: fresh(),
            nodes: Mutex::default(),
        });
        GRAPHS.add(graph.handle, Arc::clone(&graph));
        graph
    }

    /// Its nodes, in the order in which they were added.
    pub fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        self.nodes.lock().unwrap_or_else(|p| p.into_inner())
    }

    /// Adds a node behind others of this graph.
    pub fn add(&self, kind: NodeKind, work: Work, follows: &[Handle]) -> Result<Handle> {
        self.add_with(kind, work, follows, None)
    }

    /// The same for a node that allocates.
    pub fn add_with(
        &self,
        kind: NodeKind,
        work: Work,
        follows: &[Handle],
        memory: Option<Arc<GraphMemory>>,
    ) -> Result<Handle> {
        let mut nodes = self.nodes();
        if !follows.iter().all(|h| nodes.iter().any(|n| n.handle == *h)) {
            return Err(Status::INVALID_VALUE);
        }
        let handle = fresh();
        nodes.push(Node {
            handle,
            kind,
            work,
            follows: follows.to_vec(),
            memory,
        });
        Ok(handle)
    }

    /// Work of a node that frees what is at `address`: nothing, where the graph's own node allocates it each time.
    pub fn free(&self, address: u64) -> Work {
        let nodes = self.nodes();
        let mut own = nodes.iter().filter_map(|n| n.memory.as_ref());
        match own.find(|m| m.block.base == address) {
            Some(memory) => {
                memory.freed.store(true, Ordering::Relaxed);
                Work::Empty
            }
            None => Work::Free(address),
        }
    }

    /// Adds or removes an edge.
    pub fn edge(&self, from: Handle, to: Handle, add: bool) -> Result {
        let mut nodes = self.nodes();
        if !nodes.iter().any(|n| n.handle == from) {
            return Err(Status::INVALID_VALUE);
        }
        let found = nodes.iter_mut().find(|n| n.handle == to);
        let node = found.ok_or(Status::INVALID_VALUE)?;
        match add {
            true => node.follows.push(from),
            false => node.follows.retain(|h| *h != from),
        }
        Ok(())
    }

    /// The nodes in an order that respects all edges; among those that could come next, the one added first.
    pub fn order(&self) -> Result<Vec<Node>> {
        let mut left: Vec<Node> = self.nodes().clone();
        let mut done = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let free = |n: &Node| !left.iter().any(|l| n.follows.contains(&l.handle));
            // A cycle has no order.
            let next = left.iter().position(free).ok_or(Status::INVALID_VALUE)?;
            done.push(left.remove(next));
        }
        Ok(done)
    }

    /// A copy that later changes do not touch.
    pub fn duplicate(&self) -> Arc<Graph> {
        let copy = Graph::create();
        *copy.nodes() = self.nodes().clone();
        copy
    }

    /// Makes it executable.
    pub fn instantiate(&self) -> Result<Arc<Executable>> {
        let nodes = self.order()?;
        let memory = nodes.iter().filter_map(|n| n.memory.clone()).collect();
        let executable = Arc::new(Executable {
            handle: fresh(),
            work: Mutex::new(nodes.into_iter().map(|n| (n.handle, n.work)).collect()),
            memory,
        });
        EXECUTABLES.add(executable.handle, Arc::clone(&executable));
        Ok(executable)
    }
}

impl Program for Executable {
    fn run(&self, context: &Context, wait: Waiting) -> Result {
        let work = self.work.lock().unwrap_or_else(|p| p.into_inner()).clone();
        for (_, work) in work {
            wait(&|| work.ready());
            work.run(context, wait)?;
        }
        for memory in &self.memory {
            if !memory.freed.load(Ordering::Relaxed) {
                memory.left.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

impl Executable {
    /// Replaces the work of a node.
    pub fn replace(&self, node: Handle, work: Work) -> Result {
        let mut all = self.work.lock().unwrap_or_else(|p| p.into_inner());
        let found = all.iter_mut().find(|(handle, _)| *handle == node);
        found.ok_or(Status::INVALID_HANDLE)?.1 = work;
        Ok(())
    }

    /// Takes the work of another graph of the same shape.
    pub fn update(&self, graph: &Graph) -> Result {
        let nodes = graph.order()?;
        let mut all = self.work.lock().unwrap_or_else(|p| p.into_inner());
        let same = |((_, old), new): (&(Handle, Work), &Node)| {
            NodeKind::of(old) == NodeKind::of(&new.work)
        };
        if all.len() != nodes.len() || !all.iter().zip(&nodes).all(same) {
            return Err(Status::GRAPH_EXEC_UPDATE_FAILURE);
        }
        for (slot, node) in all.iter_mut().zip(nodes) {
            slot.1 = node.work;
        }
        Ok(())
    }
}
