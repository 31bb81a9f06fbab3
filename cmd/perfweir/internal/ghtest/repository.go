package ghtest

import (
	"net/http"
	"strings"
)

func repositoryEndpoints() []endpoint {
	return []endpoint{
		{"GET", "/rate_limit", nil, nil, rateLimitOverview},
		{"GET", "/user", nil, nil, getUser},
		{"GET", repositoryPath, nil, nil, getRepository},
		{"GET", repositoryPath + "/collaborators/{username}/permission", nil, nil, getPermission},
	}
}

// getUser knows people. An app's token is nobody.
func getUser(c *call) answer {
	if c.token.App != "" {
		return c.forbidden()
	}
	// The example lacks what the description demands.
	shown := c.example("private-user-response-with-public-profile-information", object{"user_view_type": "public"})
	for k, v := range c.user(c.token.Login) {
		shown[k] = v
	}
	return reply(http.StatusOK, shown)
}

func getRepository(c *call) answer {
	r := c.state().Repository
	shown := c.example("full-repository-default-response", object{"private": r.Private, "fork": r.Fork, "default_branch": r.DefaultBranch,
		"language": nil}) // the example lacks what the description demands
	delete(shown, "permissions") // those of the person in the example
	if !r.Fork {
		delete(shown, "parent")
		delete(shown, "source")
	}
	return reply(http.StatusOK, c.repositoryLike(shown, r.FullName(), r.ID))
}

// repositoryLike is an example of a repository under another name and number.
func (c *call) repositoryLike(like any, fullName string, id int64) object {
	owner, name, _ := strings.Cut(fullName, "/")
	ours, theirs := c.state().Repository.FullName(), fullName
	shown := object{}
	for k, v := range like.(object) {
		if text, ok := v.(string); ok {
			v = strings.ReplaceAll(text, ours, theirs)
		}
		shown[k] = v
	}
	shown["id"], shown["name"], shown["full_name"], shown["owner"] = id, name, fullName, c.user(owner)
	if _, has := shown["fork"]; has {
		shown["fork"] = fullName != ours || c.state().Repository.Fork
	}
	return shown
}

// getPermission tells what somebody may in the repository.
func getPermission(c *call) answer {
	login := c.params["username"]
	level, ok := c.state().Collaborators[login]
	if !ok {
		return refuse(http.StatusNotFound, login+" is not a user", c.docs)
	}
	shown := c.example("repository-collaborator-permission-response-if-user-has-admin-permissions", object{"permission": level, "role_name": level})
	shown["user"] = mergeObjects(shown["user"].(object), c.user(login), object{"role_name": level})
	return reply(http.StatusOK, shown)
}
