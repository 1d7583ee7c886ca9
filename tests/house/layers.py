"""Which room may see what: the tables that check_tree.py holds the tree to.

A room is one folder, without its subfolders. base and proto come first.
"""

# Room -> the folders that it may include and link, beside itself. All are used.
LAYERS = {
    "base": (),
    "base/json": ("base",),
    "base/log": ("base",),
    "base/rpc": ("base", "base/log"),
    "base/toml": (),
    "proto/hlo": (),
    "proto/perfetto": (),
    "proto/v1": (),
    "cli": ("cli/verbs",),
    "cli/cluster": (
        "base", "proto/v1", "cli/command", "cli/flags", "cli/program",
        "cli/text", "coordinator/planning", "planner/cluster", "worker/detect",
        "worker/devices", "worker/pjrt"),
    "cli/command": ("base",),
    "cli/coordinator": ("cli/verbs",),
    "cli/program": ("base", "base/toml"),
    "cli/flags": (
        "base", "base/rpc", "proto/v1", "cli/mlir", "cli/program", "cli/text",
        "coordinator/security", "planner/cluster"),
    "cli/local": (
        "base", "base/rpc", "proto/v1", "cli/flags", "cli/text",
        "coordinator/answers", "coordinator/client", "coordinator/daemon",
        "coordinator/explain", "coordinator/metrics", "coordinator/security",
        "profiledb", "profiledb/store", "profiledb/upkeep", "worker/devices",
        "worker/runner", "worker/sandbox", "worker/service"),
    "cli/mlir": ("base", "coordinator/ir/text", "worker/sandbox"),
    "cli/slurm": (
        "base", "base/log", "base/rpc", "coordinator/client",
        "coordinator/security"),
    "cli/testing": ("base", "cli/local", "cli/verbs"),
    "cli/text": (
        "base", "proto/v1", "coordinator/explain", "coordinator/stages",
        "planner/pipeline", "profiledb/store"),
    "cli/verbs": (
        "base", "base/log", "base/rpc", "proto/v1", "cli/cluster",
        "cli/command", "cli/flags", "cli/local", "cli/program",
        "cli/slurm", "cli/text", "cli/worker", "coordinator/client",
        "coordinator/explain", "coordinator/export",
        "coordinator/launch", "coordinator/planning", "coordinator/report",
        "coordinator/resharding", "coordinator/security", "coordinator/space",
        "coordinator/validation", "planner/checkpoint", "planner/layout",
        "planner/pipeline", "planner/reshard", "planner/search/tradeoffs",
        "profiledb/store", "profiledb/upkeep", "worker/devices",
        "worker/sandbox", "worker/service"),
    "cli/worker": (
        "base", "base/log", "base/rpc", "cli/program", "worker/devices",
        "worker/service"),
    "coordinator/answers": (
        "base", "coordinator/explain", "coordinator/launch",
        "coordinator/planning", "coordinator/plans", "coordinator/stages",
        "coordinator/validation", "profiledb/store"),
    "coordinator/audit": (
        "base", "base/log", "coordinator/security", "profiledb/store"),
    "coordinator/client": (
        "base", "base/rpc", "proto/v1", "coordinator/jobs",
        "coordinator/plans"),
    "coordinator/daemon": (
        "base", "base/log", "base/rpc", "coordinator/audit",
        "coordinator/dashboard", "coordinator/jobs",
        "coordinator/metrics", "coordinator/plans", "coordinator/resharding",
        "coordinator/security", "coordinator/service", "profiledb/store"),
    "coordinator/dashboard": (
        "base", "base/rpc", "proto/v1", "coordinator/http",
        "coordinator/jobs", "coordinator/metrics", "coordinator/plans",
        "coordinator/security", "coordinator/service", "profiledb/store",
        "web"),
    "coordinator/estimation": (
        "base", "proto/hlo", "proto/v1", "coordinator/ir",
        "coordinator/ir/links", "coordinator/segmenter", "coordinator/space",
        "coordinator/space/annotation", "coordinator/space/configurations",
        "coordinator/space/rematerialization", "planner/problem",
        "profiledb/store"),
    "coordinator/explain": (
        "base", "proto/v1", "coordinator/estimation", "coordinator/export",
        "coordinator/jobs", "coordinator/planning", "coordinator/problem",
        "coordinator/space", "coordinator/stages", "planner/pipeline",
        "planner/search", "planner/search/tradeoffs", "profiledb/store"),
    "coordinator/explain/testing": (
        "base", "coordinator/export", "coordinator/jobs/testing",
        "coordinator/planning", "coordinator/segmenter/testing",
        "coordinator/space", "planner/search", "profiledb/store"),
    "coordinator/export": (
        "base", "proto/v1", "coordinator/ir", "coordinator/ir/links",
        "coordinator/ir/load", "coordinator/operators", "coordinator/segmenter",
        "coordinator/space", "coordinator/space/annotation",
        "coordinator/space/configurations", "coordinator/space/programs",
        "coordinator/space/rematerialization", "planner/intraop",
        "planner/symbolic"),
    "coordinator/http": (
        "base", "base/log", "base/rpc", "coordinator/security"),
    "coordinator/http/testing": (),
    "coordinator/ir": ("base", "proto/hlo"),
    "coordinator/ir/checks": ("base", "coordinator/ir", "coordinator/ir/links"),
    "coordinator/ir/links": ("proto/hlo", "coordinator/ir"),
    "coordinator/ir/load": (
        "base", "proto/hlo", "coordinator/ir", "coordinator/ir/checks",
        "coordinator/ir/rewrite", "coordinator/ir/text"),
    "coordinator/ir/rewrite": ("coordinator/ir", "coordinator/ir/links"),
    "coordinator/ir/testing": ("proto/hlo",),
    "coordinator/ir/text": ("base", "proto/hlo"),
    "coordinator/jobs": (
        "base", "base/log", "proto/v1", "coordinator/jobs/gangs",
        "profiledb/store"),
    "coordinator/jobs/gangs": ("base", "proto/v1",),
    "coordinator/jobs/testing": (
        "base", "proto/hlo", "coordinator/jobs", "profiledb/store"),
    "coordinator/launch": (
        "base", "proto/v1", "coordinator/export", "coordinator/ir/load",
        "coordinator/planning", "coordinator/segmenter",
        "coordinator/space/programs", "coordinator/space/rematerialization",
        "coordinator/stages"),
    "coordinator/metrics": (
        "base", "base/log", "coordinator/http", "coordinator/jobs",
        "coordinator/service", "profiledb/store"),
    "coordinator/metrics/testing": ("coordinator/http/testing",),
    "coordinator/operators": (
        "base", "coordinator/ir", "coordinator/ir/links",
        "coordinator/segmenter", "coordinator/segmenter/blocks",
        "planner/intraop", "planner/problem", "planner/symbolic"),
    "coordinator/planning": (
        "base", "proto/v1", "coordinator/estimation", "coordinator/export",
        "coordinator/ir", "coordinator/ir/load", "coordinator/jobs",
        "coordinator/problem", "coordinator/segmenter", "coordinator/selection",
        "coordinator/space", "coordinator/space/annotation",
        "coordinator/space/programs", "coordinator/space/rematerialization",
        "planner/problem", "planner/search", "planner/search/tradeoffs",
        "profiledb/store"),
    "coordinator/plans": (
        "base", "base/log", "proto/v1", "coordinator/jobs", "profiledb/store"),
    "coordinator/plans/testing": (
        "base", "base/log", "coordinator/jobs", "coordinator/plans",
        "profiledb/store", "profiledb/store/testing"),
    "coordinator/problem": (
        "coordinator/estimation", "coordinator/export", "coordinator/segmenter",
        "coordinator/space", "coordinator/space/configurations",
        "planner/problem", "profiledb/store"),
    "coordinator/report": (
        "base", "proto/perfetto", "proto/v1", "coordinator/explain",
        "coordinator/stages", "planner/pipeline", "profiledb/store", "web"),
    "coordinator/report/testing": ("proto/v1", "coordinator/explain"),
    "coordinator/resharding": (
        "base", "base/json", "proto/v1", "planner/reshard",
        "planner/reshard/decompose", "planner/reshard/problem"),
    "coordinator/security": ("base", "base/log", "base/rpc", "base/toml"),
    "coordinator/security/testing": ("base", "coordinator/security"),
    "coordinator/segmenter": (
        "base", "coordinator/ir", "coordinator/ir/links",
        "coordinator/ir/rewrite", "coordinator/segmenter/blocks",
        "coordinator/segmenter/direction", "coordinator/segmenter/segments"),
    "coordinator/segmenter/blocks": (
        "base", "coordinator/ir", "coordinator/ir/links",
        "coordinator/segmenter/direction"),
    "coordinator/segmenter/direction": (
        "base", "coordinator/ir", "coordinator/ir/links"),
    "coordinator/segmenter/segments": (
        "base", "coordinator/ir", "coordinator/ir/links",
        "coordinator/segmenter/blocks", "coordinator/segmenter/direction"),
    "coordinator/segmenter/testing": (
        "base", "coordinator/ir/load", "coordinator/segmenter"),
    "coordinator/selection": (
        "base", "proto/v1", "coordinator/estimation", "coordinator/export",
        "coordinator/problem", "coordinator/segmenter", "coordinator/space",
        "planner/problem", "planner/search"),
    "coordinator/service": (
        "base", "base/log", "base/rpc", "proto/v1", "coordinator/audit",
        "coordinator/jobs", "coordinator/plans", "coordinator/resharding",
        "coordinator/security", "planner/reshard", "profiledb/store",
        "profiledb/upkeep"),
    "coordinator/space": (
        "base", "proto/v1", "coordinator/segmenter",
        "coordinator/space/annotation", "coordinator/space/configurations",
        "coordinator/space/programs"),
    "coordinator/space/annotation": (
        "base", "proto/hlo", "coordinator/ir", "coordinator/ir/links",
        "coordinator/segmenter"),
    "coordinator/space/configurations": (
        "base", "coordinator/ir", "coordinator/ir/links",
        "coordinator/segmenter", "coordinator/segmenter/blocks",
        "coordinator/space/annotation", "coordinator/space/rematerialization"),
    "coordinator/space/programs": (
        "base", "proto/v1", "coordinator/ir", "coordinator/ir/links",
        "coordinator/segmenter", "coordinator/space/annotation",
        "coordinator/space/configurations",
        "coordinator/space/rematerialization"),
    "coordinator/space/rematerialization": ("coordinator/segmenter",),
    "coordinator/space/testing": (
        "proto/hlo", "proto/v1", "coordinator/segmenter", "coordinator/space"),
    "coordinator/stages": (
        "base", "proto/v1", "coordinator/estimation", "coordinator/export",
        "coordinator/ir", "coordinator/ir/links", "coordinator/jobs",
        "coordinator/planning", "coordinator/problem", "coordinator/segmenter",
        "coordinator/space/annotation", "coordinator/space/programs",
        "coordinator/space/rematerialization", "planner/pipeline",
        "planner/problem", "planner/reshard", "planner/reshard/decompose",
        "planner/reshard/problem", "planner/search",
        "planner/search/tradeoffs", "profiledb/store"),
    "coordinator/validation": (
        "base", "proto/v1", "coordinator/estimation", "coordinator/explain",
        "coordinator/export", "coordinator/ir", "coordinator/ir/load",
        "coordinator/jobs", "coordinator/launch", "coordinator/planning",
        "coordinator/segmenter", "coordinator/selection", "coordinator/space",
        "coordinator/stages", "profiledb/store"),
    "planner/checkpoint": ("base", "planner/problem"),
    "planner/checkpoint/testing": ("base", "planner/checkpoint"),
    "planner/cluster": ("base", "base/json"),
    "planner/cluster/testing": ("planner/cluster",),
    "planner/intraop": (
        "base", "planner/layout", "planner/problem", "planner/search"),
    "planner/intraop/testing": ("planner/intraop",),
    "planner/layout": ("base", "base/json", "planner/problem"),
    "planner/layout/testing": ("planner/layout",),
    "planner/pipeline": ("base", "base/json", "planner/problem"),
    "planner/pipeline/testing": ("base", "planner/pipeline"),
    "planner/problem": ("base", "base/json"),
    "planner/problem/testing": ("planner/problem",),
    "planner/reshard": (
        "base", "planner/problem", "planner/reshard/bounds",
        "planner/reshard/exact", "planner/reshard/heuristics",
        "planner/reshard/paper", "planner/reshard/problem"),
    "planner/reshard/bounds": (
        "base", "planner/problem", "planner/reshard/problem"),
    "planner/reshard/decompose": ("base", "planner/reshard/problem"),
    "planner/reshard/exact": (
        "base", "planner/reshard/bounds", "planner/reshard/problem"),
    "planner/reshard/heuristics": (
        "base", "planner/reshard/paper", "planner/reshard/problem"),
    "planner/reshard/paper": ("base", "planner/reshard/problem"),
    "planner/reshard/problem": ("base",),
    "planner/reshard/testing": (
        "planner/reshard/decompose", "planner/reshard/problem"),
    "planner/search": (
        "base", "planner/problem", "planner/search/constrained",
        "planner/search/graph"),
    "planner/search/constrained": (
        "base", "planner/search/elimination", "planner/search/graph"),
    "planner/search/elimination": ("base", "planner/search/graph"),
    "planner/search/graph": ("planner/problem",),
    "planner/search/testing": ("planner/problem",),
    "planner/search/tradeoffs": ("base", "planner/problem", "planner/search"),
    "planner/symbolic": ("base", "planner/problem"),
    "planner/symbolic/testing": ("planner/symbolic",),
    "profiledb": (
        "base", "profiledb/postgres", "profiledb/sqlite", "profiledb/store"),
    "profiledb/postgres": (
        "base", "profiledb/schema", "profiledb/store", "profiledb/tables"),
    "profiledb/postgres/testing": ("base", "profiledb/postgres"),
    "profiledb/schema": (),
    "profiledb/sqlite": (
        "base", "profiledb/schema", "profiledb/store", "profiledb/tables"),
    "profiledb/sqlite/testing": ("base", "profiledb/sqlite"),
    "profiledb/store": ("base", "proto/v1"),
    "profiledb/store/testing": ("base", "proto/v1", "profiledb/store"),
    "profiledb/tables": ("base", "base/log", "proto/v1", "profiledb/store"),
    "profiledb/upkeep": (
        "base", "base/log", "proto/v1", "profiledb", "profiledb/sqlite",
        "profiledb/store"),
    "web": (),
    "worker/comm/executor": (
        "base", "base/json", "worker/comm/protocol", "worker/comm/transport"),
    "worker/comm/protocol": ("base",),
    "worker/comm/testing": (
        "worker/comm/executor", "worker/comm/protocol",
        "worker/comm/transport"),
    "worker/comm/transport": ("base", "worker/comm/protocol"),
    "worker/collect": ("base", "proto/hlo", "proto/v1", "worker/pjrt"),
    "worker/detect": (
        "base", "planner/cluster", "worker/comm/protocol",
        "worker/comm/transport", "worker/devices", "worker/pjrt",
        "worker/runner"),
    "worker/devices": ("base", "proto/v1"),
    "worker/pjrt": ("base", "proto/hlo", "proto/v1"),
    "worker/pjrt/testing": ("proto/hlo",),
    "worker/runner": (
        "base", "proto/hlo", "proto/v1", "worker/collect", "worker/devices",
        "worker/pjrt", "worker/sandbox", "worker/timing"),
    "worker/sandbox": ("base", "proto/v1", "worker/timing"),
    "worker/service": (
        "base", "base/log", "base/rpc", "proto/v1", "worker/sandbox"),
    "worker/timing": ("base", "proto/v1"),
}

# A test may also see all that lies below its room, with the testing folders
# there, and these folders.
TEST_LAYERS = {
    "cli/cluster": ("cli/testing",),
    "cli/text": ("coordinator/validation",),
    "cli/verbs": ("cli/testing",),
    "coordinator/daemon": ("coordinator/client",),
    "coordinator/estimation": ("coordinator/jobs/testing",),
    "coordinator/ir": ("coordinator/ir/load",),
    "coordinator/ir/links": ("coordinator/ir/load", "coordinator/ir/text"),
    "coordinator/ir/rewrite": ("coordinator/ir/checks", "coordinator/ir/load"),
    "coordinator/problem": ("coordinator/jobs/testing",),
    "coordinator/security": ("proto/v1",),
    "coordinator/segmenter/direction": (
        "coordinator/ir/load", "coordinator/segmenter",
        "coordinator/segmenter/testing"),
    "coordinator/space/annotation": ("coordinator/space",),
    "coordinator/space/configurations": ("coordinator/space",),
    "coordinator/space/programs": (
        "coordinator/space", "coordinator/space/testing"),
    "coordinator/space/rematerialization": (
        "coordinator/space", "coordinator/space/testing"),
    "planner/reshard/decompose": ("planner/reshard/testing",),
    "planner/reshard/heuristics": (
        "planner/reshard", "planner/reshard/bounds", "planner/reshard/testing"),
    "planner/reshard/problem": ("planner/reshard/testing",),
    "planner/search/elimination": ("planner/search/testing",),
    "profiledb/schema": ("base", "proto/v1"),
    "web": ("base",),
    "worker/comm/executor": ("worker/comm/testing",),
    "worker/sandbox": ("worker/pjrt/testing",),
}

# Pattern of a foreign header -> the folders whose .cc files may include it.
FOREIGN = {
    r"sqlite3\.h": ("profiledb/sqlite",),
    r"libpq|postgres_ext|postgresql/": ("profiledb/postgres",),
    r"zstd\.h": ("profiledb/tables",),
    r"grpc|.*\.grpc\.pb\.h": (
        "base/rpc", "coordinator/client", "coordinator/daemon",
        "coordinator/service",
        "worker/service", "tests/integration"),
    r"(xla/pjrt/c/|.*/)?pjrt_c_api\.h": ("tests/doubles", "worker/pjrt"),
    r"cupti|cuda|nvml": ("worker/comm/transport",),
    r"nccl": ("worker/comm/transport",),
    r"boost/": (
        "base", "coordinator/http", "worker/comm/transport",
        "worker/comm/testing"),
    r"xxhash\.h": ("worker/comm/protocol",),
    r"openssl/": ("base", "cli/slurm", "coordinator/http"),
    r"toml": ("base/toml", "cli/program", "coordinator/security"),
    r"prometheus/": ("coordinator/metrics",),
    r"spdlog/": ("base",),
    r"CLI/": ("cli", "tests/bench", "worker/comm/executor"),
}

# File -> why it asks for the wall clock. Spans of time and deadlines go by
# base::SteadyClock, which nobody sets.
WALL_CLOCK = {
    "base/clock.h": "it is the clock",
    "base/log/log.cc": "the time of a line",
    "base/rpc/health_port.cc": "gRPC's deadline",
    "base/rpc/idle_limit.cc": "gRPC's deadline",
    "cli/slurm/gathering.cc": "when a token was made",
    "coordinator/client/planning_client.cc": "gRPC's deadlines",
    "coordinator/daemon/coordinator.cc": "gRPC's deadline",
    "coordinator/service/resharding_call.cc": "gRPC's deadline",
    "profiledb/sqlite/convert_version_1.cc": "when a row was recorded",
    "profiledb/store/memory_plan_store.cc": "when a plan was submitted",
    "profiledb/store/profile_store.h": "when a row was recorded",
    "worker/collect/kernel_watch.cc": "the time of kernels",
    "worker/runner/quiet_period.cc": "NVML's periods",
    "worker/service/worker.cc": "gRPC's deadline",
}

# A header that several .cc files implement -> how the names of the others begin.
PARTS = {
    "cli/cluster/cluster_verbs": "cli/cluster/",
    "cli/verbs/verbs": "cli/verbs/",
    "coordinator/ir/links/dim_links_rules": "coordinator/ir/links/dim_links_",
    "coordinator/ir/write": "coordinator/ir/write_",
    "coordinator/jobs/job_queue": "coordinator/jobs/job_queue_",
    "coordinator/segmenter/segments/placement_steps":
        "coordinator/segmenter/segments/place_",
    "coordinator/service/services": "coordinator/service/",
    "profiledb/schema/migrations": "profiledb/schema/postgres_migrations",
    "worker/comm/transport/tcp_transport": "worker/comm/transport/tcp_",
}
