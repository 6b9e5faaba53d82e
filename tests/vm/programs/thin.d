#pragma D priority low
syscall:::entry { capture(arg0); }
syscall:::return { capture(arg1); }
#pragma D priority high
proc:::exec-success { capture(); }
proc:::exit { capture(args[0]); }
