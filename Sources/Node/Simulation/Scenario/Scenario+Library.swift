extension Scenario {
    /// The files in the folder `Scenarios`, which the package manager compiles in.
    private static let files: [[UInt8]] = [
        PackageResources.admission_storm_json,
        PackageResources.broadcast_silence_json,
        PackageResources.broadcast_json,
        PackageResources.dht_besieged_json,
        PackageResources.dht_churn_json,
        PackageResources.dht_durability_json,
        PackageResources.dht_hostile_json,
        PackageResources.dht_lookup_json,
        PackageResources.dht_store_json,
        PackageResources.lan_discovery_json,
        PackageResources.mail_json,
        PackageResources.real_life_json,
        PackageResources.revocation_json,
        PackageResources.small_family_json,
        PackageResources.ten_thousand_json,
    ]

    /// The scenarios of this library, by name.
    public static let library: [Scenario] = files.map { file in
        do {
            return try Scenario(json: file)
        } catch {
            preconditionFailure("a scenario of the library is broken: \(error)")
        }
    }

    /// The scenario of the library that has this name.
    ///
    /// - Throws: ``ScenarioError/unknown(name:known:)``.
    public static func named(_ name: String) throws(ScenarioError) -> Scenario {
        guard let scenario = library.first(where: { $0.name == name }) else {
            throw .unknown(name: name, known: library.map(\.name))
        }
        return scenario
    }
}
