# SPDX-License-Identifier: GPL-2.0
# Runs apt with its own configuration and lists, below a directory that the caller removes. The
# machine's packages and apt's own lists do not change. To be sourced.
#
#	private_apt_lists DIRECTORY ARCHITECTURE,... SUITE...	fetches the lists
#	private_apt DIRECTORY apt-get|apt-cache ...		uses them
#
# A package name without an architecture means the first architecture. Before the first call the
# caller may set
#	private_apt_kinds="deb deb-src"		packages alone are the default
#	private_apt_status=/var/lib/dpkg/status	what the machine has is not fetched; by default it
#						has nothing
private_apt_lists()
{
	local dir=$1 architectures=$2 codename uri suite kind

	shift 2
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		'Component: main' "Release: $codename" | head -n 1)
	[ -n "$uri" ] || { echo "apt knows no main archive of $codename" >&2; return 1; }
	mkdir -p "$dir"/{lists/partial,archives/partial}
	for suite in "$@"; do
		for kind in ${private_apt_kinds:-deb}; do
			echo "$kind [arch=$architectures] $uri $suite main"
		done
	done > "$dir/sources.list"
	{
		printf '%s "%s";\n' APT::Sandbox::User root Debug::NoLocking 1 \
			Dir::State::Lists "$dir/lists" Dir::State::status "${private_apt_status:-/dev/null}" Dir::Cache "$dir" \
			Dir::Etc::SourceList "$dir/sources.list" Dir::Etc::SourceParts /dev/null \
			Dir::Etc::Preferences /dev/null Dir::Etc::PreferencesParts /dev/null \
			Acquire::Languages none APT::Architecture "${architectures%%,*}"
		echo "APT::Architectures { $(sed 's/\([^,]*\),*/"\1"; /g' <<< "$architectures")};"
	} > "$dir/apt.conf"
	private_apt "$dir" apt-get update
}

private_apt()
{
	local dir=$1 program=$2

	shift 2
	APT_CONFIG=$dir/apt.conf "$program" -q "$@"
}
