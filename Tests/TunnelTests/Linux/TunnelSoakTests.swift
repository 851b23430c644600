#if os(Linux)
internal import TestSupport
internal import Testing

/// Real engines over a path that loses, reorders and duplicates datagrams: half a minute, and an hour in the long run.
@Suite(
    "Tunnel soak",
    .enabled(if: TunnelLab.obstacle == nil, "needs root, namespaces, /dev/net/tun and nft"),
    .serialized,
    .timeLimit(.minutes(LongTests.areRun ? 90 : 5))
)
struct TunnelSoakTests {
    private static let seconds = LongTests.areRun ? 3_600 : 30

    @Test func `traffic passes engines with loss, renewals and replacements`() async throws {
        let soak = try await TunnelSoak(seconds: Self.seconds)
        try await soak.run()
        // Other suites share the process for the first minutes of the long run.
        guard let last = soak.usages.last, soak.usages.count >= 10 else { return }
        let warm = soak.usages[soak.usages.count / 3]
        #expect(last.residentBytes < warm.residentBytes + 8 << 20, "\(soak.usages)")
        #expect(last.descriptors <= warm.descriptors + 2 && last.threads <= warm.threads + 2, "\(soak.usages)")
    }
}
#endif
