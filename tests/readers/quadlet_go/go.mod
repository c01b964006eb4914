module triptime/quadlet

go 1.24.2

tool github.com/containers/podman/v5/cmd/quadlet

require (
	github.com/containers/podman/v5 v5.8.2 // indirect
	go.podman.io/storage v1.62.0 // indirect
)
