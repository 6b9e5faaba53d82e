# SPDX-License-Identifier: GPL-2.0
#
# What the segments of a .dfr file hold, apart from chunks of blocks (chunk.h).
# Grows only at the end of a struct; a reader ignores what it does not know.
@0xd6f1a3c5927be840;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("dfr::trace::schema");

struct Field {
  kind @0 :UInt16;
  flags @1 :UInt16;
  size @2 :UInt32;
  action @3 :UInt16;
  argument @4 :Int16;
}

struct Pair {
  key @0 :Text;
  value @1 :Text;
}

struct Clock {
  mono @0 :UInt64;
  real @1 :UInt64;
  boot @2 :UInt64;
}

struct Program {
  dof @0 :Data;
  source @1 :Text;
}

struct Probe {
  id @0 :UInt32;
  nargs @1 :UInt32; # 0xffffffff: not known
  provider @2 :Text;
  module @3 :Text;
  function @4 :Text;
  name @5 :Text;
}

struct Layout {
  id @0 :UInt32;
  dof @1 :UInt32;
  clause @2 :UInt32;
  fields @3 :List(Field);
}

struct Ecb {
  epid @0 :UInt32;
  probe @1 :UInt32;
  layout @2 :UInt32;
  priority @3 :UInt32;  # enum dfr_priority
}

struct Aggregation {
  varid @0 :UInt32;
  kind @1 :UInt32;
  flags @2 :UInt32;
  arg @3 :UInt64;
  keys @4 :List(Field);
}

struct Module {
  name @0 :Text;
  time @1 :UInt64;
  base @2 :UInt64;
  bytes @3 :UInt64;
  gone @4 :Bool;
}

struct EventMark {
  event @0 :UInt32;
  value @1 :Int32;
  time @2 :UInt64;
  error @3 :Int32;
  text @4 :Text;
}

# A part of the catalog: what had come since the part before. The last catalog
# of a finished file is whole, so that a damaged part costs nothing.
struct Catalog {
  stateId @0 :UInt64;
  bootId @1 :Data;
  stateName @2 :Text;
  cpus @3 :UInt32;
  blockSize @4 :UInt32;
  blocks @5 :UInt32;
  policy @6 :UInt32;
  strsize @7 :UInt32;
  anonymous @8 :Bool;
  machine @9 :List(Pair);
  clocks @10 :List(Clock);
  programs @11 :List(Program);
  probes @12 :List(Probe);
  layouts @13 :List(Layout);
  ecbs @14 :List(Ecb);
  aggregations @15 :List(Aggregation);
  modules @16 :List(Module);
  events @17 :List(EventMark);
}

# A snapshot: the last one in the file counts.
struct Aggregations {
  struct Entry {
    varid @0 :UInt32;
    kind @1 :UInt32;
    key @2 :Data;
    words @3 :List(UInt64);
  }
  entries @0 :List(Entry);
}

# All losses so far: the last one in the file counts.
struct Losses {
  struct Entry {
    cause @0 :UInt32;
    probe @1 :UInt32;
    cpu @2 :Int32;
    count @3 :UInt64;
    from @4 :UInt64;
    to @5 :UInt64;
  }
  entries @0 :List(Entry);
  # What the source of the recording said of itself, and whether something of it was missing.
  remarks @1 :List(Text);
  partial @2 :Bool;
  wholeUntil @3 :UInt64; # every record before this time stands in front of this segment; 0: not known
  # Up to where the blocks of each CPU stand in front of this segment.
  struct Reach {
    cpu @0 :UInt32;
    seq @1 :UInt64;     # of the last block
    records @2 :UInt64; # of this CPU since go, up to that block's end
  }
  reaches @4 :List(Reach);
  # Only in a part of a recording (dfr cut): what the whole one had of each CPU.
  struct Part {
    cpu @0 :UInt32;
    committed @1 :UInt64;   # records of this CPU since go
    overwritten @2 :UInt64; # of these, by the ring, before the whole recording's first block
    cut @3 :UInt64;         # of these, taken out
  }
  parts @5 :List(Part);
  # Of a recorder that rotates: which of its files this is.
  struct FilePart {
    series @0 :UInt64; # the same number in all of them; 0: it is no part
    number @1 :UInt32; # from 1
    since @2 :UInt64;  # until then the files before it have every record; 0: not known
    before @3 :List(Reach); # up to where they have each CPU's blocks
  }
  part @6 :FilePart;
}

# Names of addresses that occurred since the segment of this kind before: all of them together count.
# Texts are named by their number in `texts`, files by theirs in `files`.
struct Names {
  struct KernelSymbol {
    start @0 :UInt64;
    size @1 :UInt64;
    since @2 :UInt64; # time of the first record that had it; 0: from the start
    module @3 :UInt32;
    name @4 :UInt32;
  }
  struct File {
    name @0 :UInt32;
    buildId @1 :UInt32; # in hexadecimal; of a file without one: what else tells it from others of its name
  }
  struct FileSymbol {
    file @0 :UInt32;
    name @1 :UInt32;
    offset @2 :UInt64; # in the file
    size @3 :UInt64;
  }
  struct Mapping {
    pid @0 :UInt32;
    file @1 :UInt32;
    start @2 :UInt64;
    end @3 :UInt64;
    offset @4 :UInt64; # in the file, of what is mapped at `start`
    since @5 :UInt64; # it may have been mapped from here on, ...
    seen @6 :UInt64; # ... from here on it was, ...
    until @7 :UInt64 = 0xffffffffffffffff; # ... and from here on no more
  }
  struct ModuleRange {
    name @0 :UInt32;
    start @1 :UInt64;
    size @2 :UInt64;
    since @3 :UInt64; # 0: from the boot on
    until @4 :UInt64 = 0xffffffffffffffff;
  }
  texts @0 :List(Text);
  kernel @1 :List(KernelSymbol);
  files @2 :List(File);
  symbols @3 :List(FileSymbol);
  mappings @4 :List(Mapping);
  modules @5 :List(ModuleRange); # of the symbols in `kernel`; those without one were always there
}

# What the recorded kernel's types are (recorded_types.h); readers take the last one.
struct Types {
  struct Container {
    name @0 :Text; # "vmlinux", or a module's
    btf @1 :Data; # stands alone
  }
  struct Argument {
    native @0 :Text;
    translated @1 :Text;
    name @2 :Text;
    mapping @3 :UInt32;
    user @4 :Bool;
  }
  struct ProbeArguments {
    name @0 :Text; # provider:module:function:name
    args @1 :List(Argument);
    whyUntyped @2 :Text;
  }
  digest @0 :UInt64; # of all of vmlinux's BTF
  containers @1 :List(Container);
  probes @2 :List(ProbeArguments);
  leftOut @3 :UInt64; # types and probes for which there was no room
}

# Events of the kernel's own tracer (kernel_events.h); readers take the last one. An event names its texts by
# their number in `texts`.
struct KernelEvents {
  struct Event {
    time @0 :UInt64;
    cpu @1 :UInt32;
    pid @2 :UInt32;
    name @3 :UInt32;
    text @4 :UInt32;
  }
  texts @0 :List(Text);
  events @1 :List(Event); # in the kernel's order
  lost @2 :UInt64; # the kernel's buffer had no room for them
  remarks @3 :List(Text);
}

# Where everything is. A file without it is walked from segment to segment.
struct Index {
  struct Chunk {
    offset @0 :UInt64; # of the segment's head in the file
    cpu @1 :UInt32;
    blocks @2 :UInt32;
    firstSeq @3 :UInt64;
    lastSeq @4 :UInt64;
    firstTime @5 :UInt64; # lowest, committed speculations included: how far back it reaches
    lastTime @6 :UInt64;
    records @7 :UInt64;
  }
  struct Other {
    offset @0 :UInt64;
    type @1 :UInt16;
  }
  chunks @0 :List(Chunk);
  others @1 :List(Other);
  goesOn @2 :Bool; # the recorder went on in a next file
}
