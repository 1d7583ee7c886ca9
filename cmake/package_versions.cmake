# Read by cpack: what depends on the version, which -D may set.
set(same "(= ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(accounts "systemd | systemd-standalone-sysusers | systemd-sysusers")
set(CPACK_DEBIAN_MESHWRIGHT_PACKAGE_DEPENDS "meshwright-runner ${same}")
set(CPACK_DEBIAN_MESHWRIGHT_PACKAGE_RECOMMENDS "meshwright-plugin-cpu")
# kill of procps is what a reload runs.
set(CPACK_DEBIAN_MESHWRIGHT-COORDINATOR_PACKAGE_DEPENDS "${accounts}, procps")
set(CPACK_DEBIAN_MESHWRIGHT-COORDINATOR_PACKAGE_SECTION net)
set(CPACK_DEBIAN_MESHWRIGHT-COORDINATOR_PACKAGE_SUGGESTS
    "postgresql, meshwright")
set(CPACK_DEBIAN_MESHWRIGHT-WORKER_PACKAGE_DEPENDS
    "${accounts}, procps, meshwright-runner ${same}")
set(CPACK_DEBIAN_MESHWRIGHT-WORKER_PACKAGE_RECOMMENDS "meshwright-plugin-cpu")
set(CPACK_DEBIAN_MESHWRIGHT-DEV_PACKAGE_DEPENDS
    "libgrpc++-dev, libprotobuf-dev")
set(CPACK_DEBIAN_MESHWRIGHT-DEV_PACKAGE_SECTION libdevel)
